"""What is only linked makes no machine code, and what Python calls has its own whoever compiles it."""

from __future__ import annotations

import numba

from kernels.linking import EntryCode, LinkedCode, only_linked


def one_more(value: int) -> int:
    return value + 1


def test_a_function_for_python_that_is_compiled_meanwhile_runs() -> None:
    for code in (LinkedCode, EntryCode):
        with only_linked(code):
            function = numba.njit("int64(int64)")(one_more)
        assert function(2) == 3


def test_linked_code_runs_in_what_calls_it_and_nowhere_else() -> None:
    with only_linked(LinkedCode):
        inner = numba.njit("int64(int64)", no_cpython_wrapper=True, no_cfunc_wrapper=True)(one_more)
    (compiled,) = inner.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
    outer = numba.njit("int64(int64)")(lambda value: 2 * inner(value))
    assert outer(2) == 6
    (compiled,) = outer.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) != 0
