"""Shared by the loaders' tests: small files written on the spot, and the real ones if there are."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def mirror() -> Callable[[str], Path]:
    """Path of a real file under ``REFLESS_MIRROR``, or skip."""
    root = os.environ.get("REFLESS_MIRROR", "")
    if not root or not Path(root).is_dir():
        pytest.skip(f"REFLESS_MIRROR is {root!r}: the real data are not at hand")

    def find(name: str) -> Path:
        path = Path(root) / name
        if not path.exists():
            pytest.skip(f"the mirror has no {name}")
        return path

    return find


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write text or bytes to a file, byte for byte."""

    def write(content: str | bytes, name: str = "file") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


@pytest.fixture
def pack(tmp_path: Path) -> Callable[..., Path]:
    """Write a tar archive of the given members; a `TarInfo` among them is added as it is."""

    def pack(
        members: dict[str, str] | list[tuple[str, str]],
        *extra: tarfile.TarInfo,
        mode: str = "w:gz",
    ) -> Path:
        path = tmp_path / "archive.tgz"
        with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
            for name, content in members.items() if isinstance(members, dict) else members:
                data = content.encode("utf-8")
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
            for info in extra:
                archive.addfile(info)
        return path

    return pack
