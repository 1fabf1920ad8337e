"""Events that a rule's windows lost to its `limit`: counted, with those of the key that lost most."""

from __future__ import annotations

import json
from collections.abc import Mapping

from alerts.notation import json_value
from cep.counters import WindowEventsDropped, WindowEventsOverLimit
from cep.operators.operator import BatchContext
from cep.operators.windows.compile.window_plan import WindowPlan


def count(rule: WindowPlan, dropped: Mapping[int, int], context: BatchContext) -> None:
    """Count what each key lost, by its number. Of several that lost most the least by text is named."""
    if not dropped:
        return
    context.counts[WindowEventsDropped(*rule.name)] += sum(dropped.values())
    most = max(dropped.values())
    tried = [key for key, lost in dropped.items() if lost == most]
    by = rule.rule.by
    names, types = ((), ()) if by is None else (by.names, by.types)
    keys = (
        json.dumps({name: json_value(v, of) for name, v, of in zip(names, values, types, strict=True)})
        for values in context.keys.python(tried).values()
    )
    context.counts[WindowEventsOverLimit(*rule.name, min(keys))] += most
