"""The fields of an order in conversation files: those of its view, each of which may be left out."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, Field, create_model
from typing_extensions import get_type_hints, is_typeddict

from agents.app.conversation_files.form import FilePart, Texts
from agents.app.parts import Fields
from state.view import OrderView


def _form(view: Any, base: type[BaseModel] = FilePart, **replaced: Any) -> Any:
    """Return the form of a part of the view, without the fields that it need not have."""
    hints = get_type_hints(view, include_extras=True)
    fields: dict[str, Any] = {name: _field(kind) for name, kind in hints.items()}
    name = view.__name__.replace("View", "Fields")
    return create_model(name, __base__=base, __doc__=view.__doc__, **{**fields, **replaced})


def _field(kind: Any) -> tuple[Any, Any]:
    """Return the type of a field and its default. Lists are never null, other fields may be."""
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if get_origin(bare) is list:
        (member,) = get_args(bare)
        several: Any = tuple
        return (several[_form(member), ...] if is_typeddict(member) else Texts), ()
    forms = [_form(one) for one in (bare, *get_args(bare)) if is_typeddict(one)]
    return (forms[0] if forms else kind) | None, None


OrderFields: type[Fields] = _form(
    OrderView,
    Fields,
    tip_percentage=(Decimal | None, None),
    display=(Mapping[str, Any], Field(default_factory=dict)),
)
"""Fields of an order as the view shows it; only given fields are compared.

Money is whole minor units. Lists have to be complete, in any order; of their members only given
fields are compared. ``null`` means "not known yet".
"""
