"""Errors that a user can act on: what is wrong, where, and what to do about it."""

from dataclasses import dataclass
from pathlib import Path


class ReflessError(Exception):
    """A problem with input, settings or resources, with its remedy.

    message : what is wrong, in one sentence
    remedy : what the user can do about it
    path : the file concerned, if any
    line : the 1-based line of that file, if any
    """

    def __init__(
        self,
        message: str,
        *,
        remedy: str = "",
        path: str | Path | None = None,
        line: int | None = None,
    ) -> None:
        self.message = message
        self.remedy = remedy
        self.path = None if path is None else str(path)
        self.line = line
        where = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        super().__init__(where + message + (f"\n  What to do: {remedy}" if remedy else ""))


class SourceError(ReflessError):
    """A source could not be fetched, or is not the file that it should be."""


class FormatError(ReflessError):
    """A file does not have the format that its loader expects."""


class KernelError(ReflessError):
    """An unknown kernel, a wrong option, or a resource that a kernel lacks."""


class StaleError(ReflessError):
    """A stored file that was made from something else than lies there now."""


class OutputError(ReflessError):
    """A result could not be written: disk full, read-only directory."""


class SettingError(ReflessError):
    """A setting has a value that makes no sense."""


@dataclass(frozen=True)
class Reason:
    """Why something cannot be had.

    code : one word for programs, e.g. ``raw_file_missing``
    sentence : what is missing, without a full stop
    """

    code: str
    sentence: str
