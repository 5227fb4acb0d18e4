"""The names of the package ``state``, which are imported when they are asked for."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import state as package
from state import OrderState
from state.order import OrderState as same


def typed_names() -> Iterator[tuple[str, str]]:
    """What a type checker is told that there is: each name and the module it comes from."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    for block in tree.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                assert isinstance(line, ast.ImportFrom)
                for name in line.names:
                    yield name.name, line.module or ""


def test_type_checkers_and_programs_find_the_same_names() -> None:
    found = {name: home for home, names in vars(package)["_HOMES"].items() for name in names}

    assert dict(typed_names()) == found
    assert sorted(found) == package.__all__


def test_every_name_is_there_and_shown() -> None:
    assert set(package.__all__) <= set(dir(package))
    assert all(getattr(package, name) is not None for name in package.__all__)


def test_no_name_is_hidden_by_a_module_of_the_package() -> None:
    modules = {path.stem for path in Path(package.__file__).parent.iterdir()}

    assert modules.isdisjoint(package.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'state' has no attribute 'Orders'"):
        getattr(package, "Orders")  # noqa: B009


def test_a_class_is_the_one_that_its_module_defines() -> None:
    assert OrderState is same
    assert pickle.loads(pickle.dumps(OrderState)) is OrderState


def test_an_order_need_not_be_read_back_with_every_change() -> None:
    from state.shared.shapes import shape_of

    # A field with a validator or a float in any model of it makes each change several times slower.
    assert shape_of(OrderState).survives
