"""Names that functions have in other languages: SQL, Flink, Siddhi, EPL, KQL, SPL, Python.

Each leads to our function, or, where there is none, to a sentence on what to write instead. Names are
compared without regard to case and `_`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from rules.functions import AGGREGATES, FUNCTIONS, NAVIGATION, OVER_WINDOWS, WINDOW_AGGREGATES

_OURS = {
    "abs": "fabs absolute",
    "round": "ceil ceiling floor trunc truncate rint fix int_floor",
    "double": "to_double toreal to_number tofloat parse_float parse_double",
    "decimal": "to_decimal bigdecimal to_bigdecimal",
    "lower": "lcase to_lower to_lowercase lowercase casefold",
    "upper": "ucase to_upper to_uppercase uppercase",
    "length": "len strlen char_length character_length array_length cardinality size list_size string_size",
    "substr": "substring left right mid slice str_sub",
    "coalesce": "ifnull nvl zeroifnull default firstnonnull",
    "hour": "hour_of_day get_hour hours",
    "weekday": "day_of_week dow isodow day_name get_day iso_weekday",
    "distance_km": "haversine haversine_distance haversine_km distance geo_distance geo_distance_2points "
    "st_distance st_distance_sphere great_circle great_circle_distance geodesic vincenty",
    "in_cidr": "cidr_match ipv4_is_in_range ipv4_is_in_any_range ipv4_is_match ipv6_is_match "
    "ipv6_is_in_range in_subnet ip_in_range ip_in_cidr is_in_cidr inet_contains cidr ip_in_subnet",
    "count": "count_if num_events cnt number_of_events size_of_step",
    "sum": "total sum_if",
    "avg": "mean average avg_if",
    "min": "minimum lowest min_if min_of",
    "max": "maximum highest max_if max_of",
    "stddev": "std stdev stddev_samp stddev_pop stdev_p stdev_if standard_deviation sd",
    "distinct": "count_distinct distinct_count dcount dcount_if approx_count_distinct approx_distinct uniq "
    "unique nunique hll size_of_set unique_count uniq_exact dc",
    "percentile": "percentile_cont percentile_disc percentile_approx approx_percentile quantile quantiles "
    "percentiles perc",
    "list": "collect collect_list collect_set array_agg make_list make_set list_agg string_agg group_concat "
    "values window concat_agg",
    "first": "first_value earliest nth_value first_ever arg_min",
    "last": "last_value latest most_recent last_ever arg_max",
    "prev": "lag previous_value prior prev_value prev_tail",
    "rate": "rate_per_second per_second eps",
    "start": "tumble_start hop_start session_start window_start",
    "end": "tumble_end hop_end session_end window_end",
    "previous": "previous_window",
}
"""Our name to those of others."""
_CHOICE = "a choice is written `condition ? value : other`"
_COUNTED = "events are counted by `count()`, those of a step by `count(step)`"
_CLOCK = "rules see no clock: compare event times; `absent STREAM[...] for 1 hour` waits for one"
_SUBTRACT = "times are subtracted: `b.at - a.at > 5 minutes`"
_ADD = "durations are added: `at + 5 minutes`"
_PARTS = "of a time there are `hour(timestamp, zone)` and `weekday(timestamp, zone)`"
_WINDOWS = "windows are cut by `over STREAM tumbling 1 hour`"
_INSTANT = 'an instant is a string with its zone: `at > "2026-01-05T09:00Z"`'
_TEXTS = 'texts are put together in `summary "{a} {b}"`'
_AS_THEY_COME = "strings are compared as they come: by `like`, `=~`, `lower` and `substr`"
_WITHIN = 'write `like "%...%"`, or `matches "..."` for a text'
_CONVERT = "`double(x)` and `decimal(x)` convert numbers; nothing else is converted"
_MATHS = "numbers have `+ - * / %`, `abs` and `round`"
_RECORDS = "declare the field as a record, `device: { os: string }`, and name its parts: `device.os`"
_SAID = {
    "now today current_time current_timestamp current_time_millis sysdate getdate utcnow getutcdate curdate "
    "current_date local_timestamp proctime systimestamp clock system_time": _CLOCK,
    "event_timestamp event_time rowtime": "the time of an event is the field after `time` in its stream",
    "datediff timestamp_diff timediff datetime_diff date_sub months_between age elapsed "
    "time_between seconds_between": _SUBTRACT,
    "dateadd timestamp_add datetime_add add_date add_months time_add": _ADD,
    "to_timestamp to_date todatetime parse_date date_parse strptime from_unixtime datetime timestamp date "
    "str_to_date parse_timestamp unix_timestamp to_unixtime make_timestamp": _INSTANT,
    "year month day minute second day_of_month day_of_year week week_of_year quarter extract date_part "
    "get_month get_year month_of_year minute_of_hour": _PARTS,
    "date_trunc trunc_date start_of_day start_of_hour bin bucket time_bucket tumble hop session "
    "cumulate sliding tumbling": _WINDOWS,
    "concat format printf strcat concat_ws sprintf": _TEXTS,
    "trim ltrim rtrim strip replace translate split split_part regexp_replace regexp_extract regex_extract "
    "extract_all reverse lpad rpad repeat initcap capitalize": _AS_THEY_COME,
    "contains instr strpos index_of charindex position locate find includes has has_any has_all": _WITHIN,
    "startswith has_prefix": 'write `like "...%"`',
    "endswith has_suffix": 'write `like "%..."`',
    "regexp_like regexp rlike matches regex regexp_matches re_match match search test": 'write `=~ "..."`',
    "if iff iif case if_then_else decode switch": _CHOICE,
    "isnull isnan isempty is_none": "write `is null`",
    "is_not_null isnotempty notnull exists defined isset has_value": "write `is not null`",
    "nullif": "write `a == b ? null : a`",
    "cast convert float number int integer long str string to_string bool try_cast to_int to_long "
    "parse_int": _CONVERT,
    "greatest": "the greater of two is `a > b ? a : b`",
    "least": "the lesser of two is `a < b ? a : b`",
    "mod": "write `a % b`",
    "pow power square": "write `x * x`",
    "sqrt exp log ln log10 log2 sin cos tan atan2 sign random rand": _MATHS,
    "between in_range isbetween range": "write `x between low and high`",
    "isin in_list one_of any_of in_array array_contains list_contains": "write `x in (a, b)`",
    "json_value json_extract json_query get_json_object json_extract_scalar json_path parse_json "
    "json": _RECORDS,
    "lead next next_value": "conditions cannot look ahead: make the later event a step, `-> b: STREAM[...]`",
    "variance var var_samp var_pop": "the deviation is `stddev(...)`, whose square is the variance",
    "row_number rank dense_rank match_number sequence_number": _COUNTED,
    "classifier": "an alert names its events by their steps",
    "md5 sha1 sha256 hash uuid newid": "an alert has an id of its own; values like this come with the event",
    "type_of instance_of get_type instance_of_string": "the type of a field is what its stream declares",
    "lookup dlookup": "the field of a table's row is `table[key].field`",
}
"""Names, and what is said of them."""
_PERCENTILE = re.compile(r"(?:p|perc|percentile|q)_?(\d{1,2})")
SHOWN: Mapping[str, str] = MappingProxyType(
    {
        **OVER_WINDOWS,
        **{name: one.shown for name, one in WINDOW_AGGREGATES.items()},
        **NAVIGATION,
        **{name: one.shown for name, one in AGGREGATES.items()},
        **{name: one.shown for name, one in FUNCTIONS.items()},
    }
)
"""Every function of the language, by name, as a call is written; of two forms, the one over steps."""


def called_here(name: str, shown: Mapping[str, str] = SHOWN) -> str:
    """The help for a function of another language, empty for others; `shown` are the calls that may stand."""
    plain = _plain(name)
    if said := _sentences().get(plain):
        return said
    if part := _part(plain):
        return f"write `{shown.get('percentile', SHOWN['percentile']).rsplit(' ', 1)[0]} {part})`"
    ours = _names().get(plain)
    return f"write `{shown.get(ours, SHOWN[ours])}`" if ours is not None else ""


def ours_for(name: str) -> str | None:
    """Our function for one of another language, if there is one."""
    plain = _plain(name)
    return "percentile" if _part(plain) else _names().get(plain)


def _part(plain: str) -> str:
    """The part below a percentile that is called by its number, as `p99`: `0.99`; empty for other names."""
    found = _PERCENTILE.fullmatch("p50" if plain == "median" else plain)
    return f"{int(found[1]) / 100:g}" if found else ""


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()


@cache
def _names() -> Mapping[str, str]:
    return {_plain(other): ours for ours, others in _OURS.items() for other in others.split()}


@cache
def _sentences() -> Mapping[str, str]:
    return {_plain(name): said for names, said in _SAID.items() for name in names.split()}
