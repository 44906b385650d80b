"""What all sections of the configuration share. Stage: none."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

T = TypeVar("T", bound=Hashable)


class Section(BaseModel):
    """A group of settings: no other keys, no NaN, nothing changes after it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _no_boolean(value: Any) -> Any:
    if isinstance(value, bool):  # Python takes True for 1
        raise ValueError("is no number")
    return value


def _without_repetition(values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise ValueError("holds a value twice")
    return values


NO_BOOLEAN = BeforeValidator(_no_boolean)
Count = Annotated[int, Field(ge=1), NO_BOOLEAN]
Seed = Annotated[int, Field(ge=0), NO_BOOLEAN]
Draws = Annotated[int, Field(ge=100), NO_BOOLEAN]
Tau = Annotated[float, Field(gt=0, le=1), NO_BOOLEAN]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Kernel = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[A-Za-z0-9._-]+$")]
Several = Annotated[list[T], Field(min_length=1), AfterValidator(_without_repetition)]
