"""Every code of a query that cannot be read or answered, or may mean something else, with its title.

docs/errors has a page for each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from percolator.library.refusal import LifeCode
from percolator.query.errors import Code
from percolator.query.foreign_words import LookalikeCode

TITLES: Mapping[Code | LookalikeCode | LifeCode, str] = MappingProxyType(
    {
        Code.EMPTY: "an empty query",
        Code.NO_WORD: "a term in which there is no word",
        Code.UNCLOSED: "a quote, bracket, range or expression is never closed",
        Code.UNOPENED: "a closing bracket too many",
        Code.MISSING_OPERAND: "something is missing beside an operator",
        Code.BAD_NUMBER: "a distance or count that is none",
        Code.BAD_OPERAND: "an operand that its operator cannot take",
        Code.TOO_DEEP: "a query is nested too deeply",
        Code.TOO_LARGE: "a query is too large",
        Code.UNKNOWN_FIELD: "a field that the documents do not have",
        Code.BAD_VALUE: "a range or value that the field cannot have",
        Code.BAD_PATTERN: "a wildcard or regular expression that cannot be used",
        Code.MISPLACED: "a sign that cannot stand here",
        LookalikeCode.WORD: "a word that looks like an operator",
        LookalikeCode.DISTANCE: "a distance or count of another language",
        LookalikeCode.SIGN: "a sign of another language",
        LookalikeCode.UNSEEN: "a character in a query that cannot be seen",
        LookalikeCode.SCRIPTS: "a word that mixes scripts",
        LifeCode.NO_QUERY: "a line that is no query",
        LifeCode.OLD_VERSION: "a version that is there already",
        LifeCode.TOO_COSTLY: "a query that is believed to cost too much",
        LifeCode.TOO_MANY: "too many queries",
    }
)
