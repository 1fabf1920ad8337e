"""Standing rules over streams of events: complex event processing on Spark, and in any Python program.

    import cep

    pack = cep.load("rules/cards")
    for alert in pack.evaluate_files({"payment": "payments.jsonl"}, drain=True).alerts:
        print(alert.time, alert.rule, alert.summary)

The names in `__all__` are the interface (docs/python.md) and are kept stable; every other name and module,
here and in `rules`, `percolator` and `alerts`, is private and may change with any version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alerts.alert import Alert
    from cep.api.errors import DataError, Diagnostic, Error, PackError, QueryError
    from cep.api.evaluation import Evaluation, Rejected
    from cep.api.packs import Pack, check, check_text, load, load_all, load_text
    from cep.api.percolator import Hit, Loaded, Matches, Percolator, QueryFinding
    from cep.api.rule_tests import RuleTestResult

    __version__: str

__all__ = [
    "Alert",
    "DataError",
    "Diagnostic",
    "Error",
    "Evaluation",
    "Hit",
    "Loaded",
    "Matches",
    "Pack",
    "PackError",
    "Percolator",
    "QueryError",
    "QueryFinding",
    "Rejected",
    "RuleTestResult",
    "__version__",
    "check",
    "check_text",
    "load",
    "load_all",
    "load_text",
]

if not TYPE_CHECKING:
    # Every command imports this package first: a name is looked up when it is asked for.
    _MODULES = {
        "Alert": "alerts.alert",
        **dict.fromkeys(("DataError", "Diagnostic", "Error", "PackError", "QueryError"), "cep.api.errors"),
        **dict.fromkeys(("Evaluation", "Rejected"), "cep.api.evaluation"),
        **dict.fromkeys(("Pack", "check", "check_text", "load", "load_all", "load_text"), "cep.api.packs"),
        **dict.fromkeys(("Hit", "Loaded", "Matches", "Percolator", "QueryFinding"), "cep.api.percolator"),
        "RuleTestResult": "cep.api.rule_tests",
    }

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib import metadata

            value: object = metadata.version("standing-rules")
        elif name in _MODULES:
            from importlib import import_module

            value = getattr(import_module(_MODULES[name]), name)
        else:
            raise AttributeError(f"module 'cep' has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
