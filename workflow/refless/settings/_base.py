"""What all sections of the configuration share. Stage: none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core import PydanticCustomError

T = TypeVar("T", bound=Hashable)


class Section(BaseModel):
    """A group of settings: no other keys, no NaN, nothing changes after it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_settings_only(cls, raw: Any) -> Any:
        if isinstance(raw, Mapping):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in raw:
                if key not in known:
                    among = f"known are: {', '.join(known)}" if known else "none is known here"
                    raise ValueError(f".{key} is no setting; {among}")
        return raw


def _no_boolean(value: Any) -> Any:
    """Python takes True for 1; a setting that is true where a number belongs is a mistake."""
    if isinstance(value, bool):
        raise PydanticCustomError("float_type", "no number")
    return value


def _without_repetition(values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise PydanticCustomError("repetition", "without repetition")
    return values


# The check for true and false comes last, so that it is made first.
NO_BOOLEAN = BeforeValidator(_no_boolean)
Count = Annotated[int, Field(ge=1), NO_BOOLEAN]
AtLeastTwo = Annotated[int, Field(ge=2), NO_BOOLEAN]
Seed = Annotated[int, Field(ge=0), NO_BOOLEAN]
Draws = Annotated[int, Field(ge=1000), NO_BOOLEAN]
FewDraws = Annotated[int, Field(ge=100), NO_BOOLEAN]
Tau = Annotated[float, Field(gt=0, le=1), NO_BOOLEAN]
Share = Annotated[float, Field(ge=0, le=1), NO_BOOLEAN]
PositiveShare = Annotated[float, Field(gt=0, le=1), NO_BOOLEAN]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Kernel = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[A-Za-z0-9._-]+$")]

Distinct = Annotated[list[T], AfterValidator(_without_repetition)]
Several = Annotated[list[T], Field(min_length=1), AfterValidator(_without_repetition)]


def require_known(where: str, named: Sequence[str], known: Sequence[str], what: str) -> None:
    """Make sure that a setting names only what there is.

    Raises
    ------
    ValueError : with the first name that is not among ``known``, of which ``what`` tells the kind.
    """
    for name in named:
        if name not in known:
            raise ValueError(
                f"{where} names {name!r}, which is not among {what} ({', '.join(known)})"
            )
