"""Twelve stacks cost what a calculation by hand says: plain arithmetic that knows nothing of the code."""

import ast
import operator
from collections.abc import Callable

import pytest

from components.cost.estimate import BUSY, TYPICAL, estimate
from components.cost.of_settings import of_settings
from components.settings import SandboxSettings
from docs.generators.cost import by_hand
from docs.generators.cost_by_hand import STACKS, ByHand

OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def calculated(node: ast.expr) -> float:
    """Numbers, the four operations and brackets: nothing of the code can hide in them."""
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](calculated(node.left), calculated(node.right))
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int | float)
    return node.value


def bill(terms: tuple[str, ...]) -> str:
    """A bill has cents in each of its lines."""
    return f"{sum(round(calculated(ast.parse(term, mode='eval').body), 2) for term in terms):.2f}"


def test_there_are_twelve():
    assert len({each.name for each in STACKS}) == len(STACKS) == 12


@pytest.mark.parametrize("stack", STACKS, ids=lambda each: each.name)
def test_the_estimate_agrees_to_the_cent(stack: ByHand):
    found = estimate(of_settings(SandboxSettings.parse(stack.settings)))
    assert f"{found.total(TYPICAL):.2f}" == bill(stack.typical)
    assert f"{found.total(BUSY):.2f}" == bill(stack.busy)


@pytest.mark.parametrize("stack", STACKS, ids=lambda each: each.name)
def test_the_table_of_the_page_has_it(stack: ByHand):
    (row,) = [line for line in by_hand() if line.startswith(f"| {stack.name} |")]
    assert f"| {float(bill(stack.typical)):,.2f} |" in row
    assert f"| {float(bill(stack.busy)):,.2f} |" in row
    assert all(term in row for term in (*stack.typical, *stack.busy))
