"""Every code of the front end, with its title. A code is never given another meaning:
0150 to 0154 and 0158 were constructs that are read by now.

CEP01xx syntax, 02xx names and types, 03xx lints, 04xx patterns, windows and bounds, 05xx packs and files,
06xx tests. Ranges of other parts are in RESERVED: they keep their own tables.
`docs/errors/CEPxxxx.md` has a page for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SYNTAX: Mapping[str, str] = MappingProxyType(
    {
        "CEP0101": "something else was expected here",
        "CEP0102": "a string is never closed",
        "CEP0103": "brackets do not match",
        "CEP0104": "nested too deeply",
        "CEP0105": "not a number or a duration that can be used",
        "CEP0106": "an escape that is none",
        "CEP0107": "an operator that the language does not have",
        "CEP0108": "a character or name that the language does not have",
        "CEP0109": "nothing after a comma",
        "CEP0110": "comparisons do not chain",
        "CEP0111": "a file is too large, or has too many errors",
        "CEP0112": "a clause or setting is given twice",
        "CEP0113": "a rule has no body, or two",
        "CEP0114": "a comment that does not begin with `#`",
    }
)

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "CEP0201": "unknown stream",
        "CEP0202": "unknown field",
        "CEP0203": "unknown step",
        "CEP0204": "unknown function",
        "CEP0205": "a name that means nothing here",
        "CEP0206": "a name is declared twice, or may not be used",
        "CEP0207": "values of different types are compared",
        "CEP0208": "arithmetic over values that are no numbers",
        "CEP0209": "a condition that is not true or false",
        "CEP0210": "wrong number of arguments",
        "CEP0211": "a value of the wrong type",
        "CEP0212": "a step cannot be seen from here",
        "CEP0213": "a field of a repeated step",
        "CEP0214": "a constant is needed",
        "CEP0215": "a pattern for texts cannot be read",
        "CEP0216": "`matches` on something that is no text field",
        "CEP0217": "a text query cannot be read",
        "CEP0218": "a stream lacks a key field",
        "CEP0219": "the types of a key differ",
        "CEP0220": "a name that is not emitted",
        "CEP0221": "braces of a summary do not match",
        "CEP0222": "a stream without event time",
        "CEP0223": "an event time that cannot be one",
        "CEP0224": "unknown type or text analyser",
        "CEP0225": "a call that cannot stand here",
        "CEP0226": "not a constant",
        "CEP0227": "not an instant",
        "CEP0228": "unknown severity",
        "CEP0230": "a comparison with null",
        "CEP0231": "constants depend on one another",
        "CEP0232": "a list that cannot stand here",
        "CEP0237": "a character that cannot be seen",
        "CEP0238": "a name that reads like a path",
        "CEP0250": "unknown table",
        "CEP0251": "a key of another type than the table's",
        "CEP0252": "a lookup without a field",
        "CEP0253": "queries without a file",
        "CEP0254": "a key that cannot be one",
        "CEP0255": "unknown queries",
        "CEP0256": "`matching` on a stream without text",
        "CEP0257": "a field that hits have already",
        "CEP0258": "a stream that is made twice",
        "CEP0259": "`into` without `emit`",
        "CEP0260": "rules feed one another in a circle",
        "CEP0261": "a field without one type",
        "CEP0262": "a test gives events of a derived stream",
        "CEP0263": "a clock corrected by itself",
        "CEP0264": "a field that cannot be secret",
    }
)

LINTS: Mapping[str, str] = MappingProxyType(
    {
        "CEP0233": "a comparison that decides nothing",
        "CEP0234": "a branch that is never taken",
        "CEP0235": "a null test of what is never null",
        "CEP0236": "a `like` with the wildcards of another language",
        "CEP0301": "a pattern or window without `by`",
        "CEP0302": "a stream without `id`",
        "CEP0303": "declared and never used",
        "CEP0304": "a gap that can never matter",
        "CEP0305": "a condition that is always or never true",
        "CEP0306": "an `allow` or `require` that does nothing",
        "CEP0307": "runs that nothing ends",
        "CEP0308": "two rules say the same",
        "CEP0309": "a rule within another",
        "CEP0310": "`not` beside a step that may be left out",
        "CEP0311": "a summary that is always the same",
        "CEP0312": "a rule without severity",
        "CEP0313": "a rule without test",
        "CEP0314": "a step name that nothing uses",
        "CEP0315": "an expensive text query",
        "CEP0316": "every event begins a run",
        "CEP0317": "a step name occurs again",
        "CEP0318": "a word in a text query that looks like an operator",
        "CEP0319": "a name that is not what it looks like",
        "CEP0320": "a text query that is not what it looks like",
        "CEP0321": "events that a key keeps for ever",
    }
)

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "CEP0401": "a step may wait for ever",
        "CEP0402": "a bound of nothing",
        "CEP0403": "`not` is out of place",
        "CEP0404": "`|` and `&` are mixed",
        "CEP0405": "`absent` is out of place",
        "CEP0406": "a quantifier after a quantifier",
        "CEP0407": "counts that cannot be",
        "CEP0408": "a modifier that cannot stand here",
        "CEP0409": "modifiers that contradict one another",
        "CEP0411": "a step name has different streams",
        "CEP0413": "bounds that contradict one another",
        "CEP0414": "a clause that belongs to patterns",
        "CEP0415": "`|` or `&` outside of parentheses",
        "CEP0416": "a pattern that takes no event",
        "CEP0417": "a field of which event?",
        "CEP0418": "earlier windows of no aggregate",
        "CEP0419": "an aggregate that chooses the events of its window",
        "CEP0420": "hops that do not fit the window",
        "CEP0421": "no window just that long ago",
        "CEP0422": "a window without `having`",
        "CEP0423": "a call that belongs to windows",
        "CEP0424": "a call that belongs to patterns",
        "CEP0425": "more runs than a key may have",
        "CEP0427": "a setting that belongs to other rules",
        "CEP0428": "a zone without whole days",
        "CEP0429": "more events than a key may keep",
    }
)

PACKS: Mapping[str, str] = MappingProxyType(
    {
        "CEP0501": "a file without pack header",
        "CEP0502": "headers of one pack differ",
        "CEP0503": "a pack without rules",
        "CEP0504": "two headers in one file",
        "CEP0505": "no such file",
        "CEP0506": "a file cannot be read",
        "CEP0507": "a file is not UTF-8",
        "CEP0508": "no rule files",
        "CEP0509": "a file that a pack may not name",
    }
)

TESTS: Mapping[str, str] = MappingProxyType(
    {
        "CEP0601": "a test of an unknown rule",
        "CEP0602": "an event with an unknown field",
        "CEP0603": "a test gives a value that cannot be",
        "CEP0604": "times of a test decrease, or are out of range",
        "CEP0605": "a test expects a name that is not emitted",
        "CEP0606": "a test without a clear expectation",
        "CEP0607": "`start` is out of place",
        "CEP0608": "an event is repeated no times, or too often",
        "CEP0609": "a tolerance that cannot be one",
    }
)

RESERVED: Mapping[str, str] = MappingProxyType(
    {
        "CEP07": "job configuration (cep.config)",
        "CEP08": "data (cep, alerts)",
        "CEP09": "running (cep)",
    }
)
"""Ranges whose tables other parts keep."""

TITLES: Mapping[str, str] = MappingProxyType({**SYNTAX, **NAMES, **LINTS, **PATTERNS, **PACKS, **TESTS})
