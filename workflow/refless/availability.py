"""Which raw files and kernels a run can have, or why not.

Stage: none. In: settings, the table of raw files, what lies on the disk. Out: paths, or a `Reason`.
No address is asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refless.errors import Reason, SettingError
from refless.fetch.encoders import ENCODER_FILES, is_encoder, locate_encoder
from refless.fetch.places import Places, Source
from refless.kernel_registry import entry, lacking_package
from refless.machine import installed
from refless.models.rnn_qe.names import RUNS
from refless.settings import Settings
from refless.store.files import file_sum

_MODELS = "models/"
"""What the names of encoders begin with (`refless.fetch`)."""


@dataclass(frozen=True)
class Availability:
    """Which raw files and kernels can be had.

    sources : the table of raw files, by path
    places : where raw files and encoders may lie
    """

    settings: Settings
    sources: Mapping[str, Source]
    places: Places

    # ---- raw files ----------------------------------------------------------------------------

    def raw_path(self, path: str) -> str:
        """Where a raw file is read: placed by hand, else fetched to the data directory; a user's
        own where it lies."""
        return self.places.read_path(path).as_posix() if path in self.sources else path

    def raw_file(self, path: str) -> Reason | None:
        """Why a raw file cannot be had, at hand or fetched on the way; None if it can."""
        source = self.sources.get(path)
        if (source and self.places.addresses(source)) or self._at_hand(path):
            return None
        return Reason("raw_file_missing", f"the raw file {path} is missing")

    def sums(self, dataset: str) -> dict[str, str]:
        """Sums of a data set's raw files: published ones, else of the files on this disk."""
        sums = {}
        for path in self.settings.data[dataset].files.values():
            source = self.sources.get(path)
            file = self._at_hand(path)
            if source and source.sha256:
                sums[path] = source.sha256
            elif file:
                sums[path] = file_sum(file)
        return sums

    def check(self) -> None:
        """Raises SettingError: a user's own file, or a mirror's folder, is not there."""
        remedy = "mend the path in the configuration, or put it there"
        for folder in self.places.folders[1:]:
            if not folder.is_dir():
                raise SettingError("is no folder", path=f"mirror {folder}", remedy=remedy)
        for dataset, dataset_settings in self.settings.data.items():
            for name, path in dataset_settings.files.items():
                if path not in self.sources and not Path(path).is_file():
                    setting = f"data.{dataset}.files.{name}"
                    raise SettingError(f"there is no file {path}", path=setting, remedy=remedy)

    def _at_hand(self, path: str) -> Path | None:
        if path in self.sources:
            return self.places.at_hand(path)
        return Path(path) if Path(path).is_file() else None

    # ---- kernels and networks -----------------------------------------------------------------

    def kernel(self, name: str) -> Reason | None:
        """Why a kernel cannot be computed; None if it can."""
        if package := lacking_package(name):
            return Reason("package_missing", f"{name} needs {package}, which is not installed")
        options = self.options(name)
        for option, file in entry(name).files.items():
            if file.startswith(_MODELS):
                if option not in options or not is_encoder(Path(options[option])):
                    encoder = file.removeprefix(_MODELS)
                    return Reason("encoder_missing", f"the encoder {encoder} is not at hand")
            elif file and (reason := self.raw_file(file)):
                return reason
        return None

    def options(self, kernel: str) -> dict[str, Any]:
        """A kernel's options: those of the configuration, and where its files lie."""
        options = self.settings.options(kernel)
        for option, file in entry(kernel).files.items():
            if option in options or not file:
                continue
            if not file.startswith(_MODELS):
                options[option] = self.raw_path(file)
            elif folder := locate_encoder(file.removeprefix(_MODELS), self.places):
                options[option] = str(folder)
        return options

    def files(self, kernel: str) -> list[str]:
        """The files that a kernel needs besides texts."""
        options = self.options(kernel)
        paths = list[str]()
        for option, file in entry(kernel).files.items():
            if file.startswith(_MODELS) and option in options:
                folder = Path(options[option])
                paths += sorted(str(path) for glob in ENCODER_FILES for path in folder.glob(glob))
            elif option in options:
                paths.append(options[option])
        return paths

    def downloads(self) -> list[str]:
        """All that can be fetched: raw files, and encoders where torch is installed."""
        kernels = [*self.settings.kernels(), *self.settings.comparison.kernels]
        encoders = {
            file
            for kernel in kernels
            for option, file in entry(kernel).files.items()
            if file.startswith(_MODELS)
            and not lacking_package(kernel)
            and option not in self.options(kernel)
        }
        return [*self.sources, *sorted(encoders)]

    def trained_now(self) -> list[str]:
        """What this run trains RNN-QE on, by name; shipped predictions are read for the rest."""
        if self.settings.rnn_qe.train == "never" or not installed("torch"):
            return []
        return [name for name, run in RUNS.items() if run.schedule == self.settings.rnn_qe.schedule]
