"""What the models of settings say of themselves, for references, schemas and other spellings made from them."""

import ast
import inspect
import types
from itertools import pairwise
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from .base import Section


def bare(annotation: Any) -> Any:
    """Take off `Annotated` and `| None`."""
    if get_origin(annotation) is Annotated:
        return bare(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        left = [each for each in get_args(annotation) if each is not types.NoneType]
        return bare(left[0]) if len(left) == 1 else annotation
    return annotation


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the section inside a type."""
    inner = bare(annotation)
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return inner
    return next((found for each in reversed(get_args(inner)) if (found := model_in(each))), None)


def descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return the text below each setting. The models do not read it: that would cost every program's start."""
    found: dict[str, str] = {}
    for kind in (each for each in reversed(model.__mro__) if issubclass(each, Section) and each is not Section):
        found |= texts_below(kind)
    return found


def texts_below(kind: type) -> dict[str, str]:
    """Return the text below each annotated attribute of a class."""
    body = ast.parse(inspect.getsource(kind)).body[0].body  # type: ignore[attr-defined]  # it is a class
    return {
        ast.unparse(attribute.target): inspect.cleandoc(ast.literal_eval(below.value))
        for attribute, below in pairwise(body)
        if isinstance(attribute, ast.AnnAssign) and isinstance(below, ast.Expr)
    }
