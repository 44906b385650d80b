"""What all sections of the configuration share. Stage: none."""

from os.path import expanduser
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from refless.errors import KernelError
from refless.kernel_registry import entry

_T = TypeVar("_T")


class Group(BaseModel):
    """A group of settings: no other keys, no NaN, no change. What is empty has its default."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _empty_is_nothing_set(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        fields = cls.model_fields.items()
        may = {field.alias or name for name, field in fields if not field.is_required()}
        return {name: value for name, value in raw.items() if value is not None or name not in may}


def _existing_kernel(name: str) -> str:
    try:
        entry(name)
    except KernelError as error:
        raise ValueError(f"{error.message}; {error.remedy}") from error
    return name


Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]  # beyond, torch has none
DrawCount = Annotated[int, Field(ge=100)]
Tau = Annotated[float, Field(gt=0, le=1)]
EntryName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
KernelName = Annotated[str, AfterValidator(_existing_kernel)]
UserPath = Annotated[str, AfterValidator(expanduser)]
NonEmpty = Annotated[list[_T], Field(min_length=1)]
