"""Download raw files, and verify them.

Stage: fetch. In: a row of ``resources/sources.csv`` and the places to look. Out: the verified file
under the data directory. Raw files are verified again by each job that reads them.
"""

import hashlib
import logging
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from refless.errors import SourceError
from refless.fetch.places import Places, Source, read_sources
from refless.store.files import file_sum, whole_file

_log = logging.getLogger(__name__)

_CHUNK = 1 << 16
_LIMIT = 256 * 2**20  # bytes of a raw file; the largest has 11 MB
_DEADLINE = 600.0  # seconds for one address
_TIMEOUT = (10.0, 30.0)  # seconds to connect, and without a byte
_BUSY = (429, 502, 503, 504)  # answers of a server that may have time a second later


def fetch(source: Source, places: Places) -> Path:
    """Bring a raw file into the data directory, unless it is there; returns its path. SourceError
    names every place that was tried."""
    target = places.data / source.path
    if target.is_file():
        verify(target, source)
        return target
    tried: list[str] = []
    failures: list[str] = []
    local: list[Path | str] = [folder / source.path for folder in places.folders]
    for address in local + places.addresses(source):
        try:
            content = address.read_bytes() if isinstance(address, Path) else _download(address)
            with whole_file(target) as partial:
                partial.write_bytes(content)
                verify(partial, source)
            for failure in failures:
                _log.warning("%s", failure)
            return target
        except (OSError, SourceError) as error:
            why = error.strerror if isinstance(error, OSError) else error.message
            tried.append(f"{address}: {why}")
            if not isinstance(error, FileNotFoundError):
                failures.append(tried[-1])
    raise _not_had(source, places, tried)


def _not_had(source: Source, places: Places, tried: Sequence[str]) -> SourceError:
    """The error that a raw file is at none of the places that were ``tried``, with what can be
    done."""
    places_tried = [*tried]
    if not places.network:
        places_tried.append(f"{source.url or 'public address'}: the network is switched off")
    remedy = f"get it by hand ({source.url or source.about}) and put it at"
    remedy += f" {places.manual / source.path}, or set REFLESS_MIRROR to where it lies"
    if places.network:
        remedy += "; `--config network=False` does with what comes with refless"
    message = "could not be had. Tried:\n  " + "\n  ".join(places_tried)
    return SourceError(message, path=source.path, remedy=remedy)


def _download(url: str) -> bytes:
    import requests
    from urllib3 import Retry
    from urllib3.exceptions import HTTPError

    until = time.monotonic() + _DEADLINE
    content = bytearray()
    session = requests.Session()
    busy = Retry(2, connect=0, read=0, backoff_factor=1, status_forcelist=_BUSY)
    for scheme in ("http://", "https://"):
        session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=busy))
    try:
        with session, session.get(url, stream=True, timeout=_TIMEOUT) as answer:
            answer.raise_for_status()
            # read1 returns what has come: read would wait for a whole chunk, past any deadline.
            while chunk := answer.raw.read1(_CHUNK, decode_content=True):
                content += chunk
                if len(content) > _LIMIT:
                    raise SourceError(f"is longer than the {_LIMIT:,} bytes that it may have")
                if time.monotonic() > until:
                    raise SourceError(f"was given up after {len(content):,} bytes: too slow")
    except (OSError, HTTPError) as error:  # those of requests are OSErrors
        raise SourceError(f"{type(error).__name__}: {error}") from error
    return bytes(content)


def verify(path: str | Path, source: Source) -> str:
    """The sum of a raw file (see `Source`). Raises SourceError: it differs from the published one,
    or the file cannot be read."""
    remedy = f"delete it, fetch it again, or put it there by hand ({source.url or source.about})"
    try:
        if source.members:
            with zipfile.ZipFile(path) as archive:
                content = b"".join(map(archive.read, source.members))
            content_sum = hashlib.sha256(content).hexdigest()
        else:
            content_sum = file_sum(path)
    except Exception as error:  # over broken bytes, zipfile passes on what decompressors raise
        raise SourceError(f"cannot be read: {error}", path=path, remedy=remedy) from error
    if not source.sha256:
        _log.warning("%s: no sum was ever published for it; accepted: %s", source.path, content_sum)
    elif content_sum != source.sha256:
        message = f"is not {source.path}: sha256 {content_sum} instead of {source.sha256}"
        raise SourceError(message, path=path, remedy=remedy)
    return content_sum


def verified(files: Mapping[str, str]) -> dict[str, str]:
    """Sums of a data set's raw files: path in the configuration -> sum.

    files : path in the configuration -> where the file lies
    Raises SourceError: a file of the table of sources differs from the published one.
    """
    table = read_sources()
    sums = {}
    for name, path in files.items():
        sums[name] = verify(path, table[name]) if name in table else file_sum(path)
    return sums


def verify_kernel(kernel: str, options: Mapping[str, Any]) -> None:
    """Verify the raw files that a kernel reads, by its options. Raises SourceError: as `verify`."""
    from refless.kernel_registry import entry

    table = read_sources()
    for option, name in entry(kernel).files.items():
        if name in table and option in options:
            verify(options[option], table[name])
