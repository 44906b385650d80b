"""What all sections of the configuration share. Stage: none."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")


class Section(BaseModel):
    """A group of settings: no other keys, no NaN, nothing changes after it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]  # beyond, torch has none
Draws = Annotated[int, Field(ge=100)]
Tau = Annotated[float, Field(gt=0, le=1)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Kernel = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[A-Za-z0-9._-]+$")]
Several = Annotated[list[T], Field(min_length=1)]
