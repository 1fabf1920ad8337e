"""All operations. Routes, description and the table of who may what are made of them."""

from __future__ import annotations

from cep.web.api.acting import ACTING
from cep.web.api.operation import Operation
from cep.web.api.reading import READING

PREFIX = "/api/v1"
OPERATIONS: tuple[Operation, ...] = (*READING, *ACTING)
"""In the order in which paths are tried: a fixed one before one with a name in its place."""
