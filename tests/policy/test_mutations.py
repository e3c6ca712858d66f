"""Break every condition of every rule; some example must notice."""

import ast
import copy
import inspect
import sys
import textwrap
from collections.abc import Iterator

import pytest

from components.rules import rules
from components.rules.finding import Check, Rule
from tests.policy.examples import holds

OPPOSITES: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


def function_of(rule: Rule) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(rule.check)))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.decorator_list = []
    return function


def mutants(function: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Return the function with one condition broken, for every way to break one."""
    for position, node in enumerate(ast.walk(function)):
        for number, wrong in enumerate(broken(node)):
            changed = copy.deepcopy(function)
            target = list(ast.walk(changed))[position]
            replacement = list(broken(target))[number]
            yield f"line {getattr(node, 'lineno', 0)}: {ast.unparse(wrong)}", swap(changed, target, replacement)


def broken(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for opposite in OPPOSITES[type(operator)]:
                operators = [*node.ops[:index], opposite(), *node.ops[index + 1 :]]
                yield ast.Compare(node.left, operators, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        if isinstance(node.op, ast.And):
            for index in range(len(node.values)):
                rest = [*node.values[:index], *node.values[index + 1 :]]
                yield ast.BoolOp(ast.And(), rest) if len(rest) > 1 else rest[0]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.If):
        yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


class Swap(ast.NodeTransformer):
    def __init__(self, target: ast.AST, replacement: ast.AST) -> None:
        self.target, self.replacement = target, replacement

    def visit(self, node: ast.AST) -> ast.AST:
        return self.replacement if node is self.target else super().generic_visit(node)


def swap(function: ast.FunctionDef, target: ast.AST, replacement: ast.AST) -> ast.FunctionDef:
    changed = Swap(target, replacement).visit(function)
    assert isinstance(changed, ast.FunctionDef)
    return ast.fix_missing_locations(changed)


def compiled(rule: Rule, function: ast.FunctionDef) -> Check:
    scope = dict(vars(sys.modules[rule.check.__module__]))
    code = compile(ast.Module([function], []), f"<{rule.id}>", "exec")
    exec(code, scope)  # noqa: S102 - the broken rule is to run
    found: Check = scope[function.name]
    return found


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_every_broken_condition_is_noticed(rule: Rule):
    function = function_of(rule)
    assert holds(rule, compiled(rule, function))
    survivors = [text for text, mutant in mutants(function) if holds(rule, compiled(rule, mutant))]
    assert survivors == []


def test_conditions_are_there_to_be_broken():
    counts = {rule.id: sum(1 for _ in mutants(function_of(rule))) for rule in rules()}
    assert sum(counts.values()) > 600
    assert [name for name, count in counts.items() if not count] == ["code/no-such-call"]
