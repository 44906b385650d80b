"""Bring the raw data here, and let nothing wrong through.

Stage: fetch. In: one row of ``resources/sources.csv`` and the places to look. Out: the verified
file under the data directory, or an error that names every place that was tried. Whoever reads
raw data calls `verify` right before.

Order of places: the data directory itself, the folder for files placed by hand, the mirror
(a directory or a base URL), the public URL. The sha256 decides in every case. Bytes are written
under a temporary name and moved into place only after the sum was right.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.data.places import Places
from refless.data.raw_files import Source, is_html, verify
from refless.errors import SourceError
from refless.store.files import whole_file

if TYPE_CHECKING:
    import requests

log = logging.getLogger(__name__)

CHUNK = 1 << 16
LIMIT = 256 * 2**20  # bytes of a raw file whose size is not known; the largest has 11 MB
PASSING = {429, 500, 502, 503, 504}  # answers of a server in trouble that may soon be over


class AbsentError(SourceError):
    """A place does not have the file."""


def fetch(source: Source, places: Places, **patience: Any) -> Path:
    """Bring one source into the data directory and return its path there.

    What one place has may be wrong: it is named in a warning, and the next place is tried.

    Parameters
    ----------
    patience : attempts, timeout, pause, deadline, limit of `download`

    Raises
    ------
    SourceError : the file that is in the data directory already is wrong (it is never replaced);
        or the file could be had nowhere: the message lists every place and what happened there.
    OutputError : the data directory cannot be written (disk full, read-only).
    """
    target = places.data / source.path
    if target.is_file():
        verify(target, source)
        return target
    tried = [f"{target}: not there"]
    everywhere: list[Path | str] = [*places.local(source), *places.addresses(source)]
    for place in everywhere:
        try:
            if isinstance(place, Path):
                copy(place, target, source)
            else:
                download(place, target, source, **patience)
            return target
        except SourceError as error:
            if not isinstance(error, AbsentError):
                log.warning("%s: %s", place, error.message)
            tried.append(f"{place}: {error.message}")
    if not places.mirror:
        tried.append("mirror: none is set (REFLESS_MIRROR, or mirror: in the configuration)")
    if not source.url:
        tried.append("public address: there is none")
    elif not places.network:
        tried.append(f"{source.url}: not asked, the network is switched off in the settings")
    raise SourceError(
        "could not be had. Tried:\n  " + "\n  ".join(tried),
        path=source.path,
        remedy=f"get it by hand ({source.origin}) and put it at {places.manual / source.path},"
        " or point REFLESS_MIRROR at a directory that has it, and run the fetch again;"
        " `snakemake --cores 1 --config numbers=auto -- TARGET` takes shipped numbers instead",
    )


def copy(path: Path, target: Path, source: Source) -> None:
    """Copy a local file, if it is the right one.

    Raises
    ------
    AbsentError : it is not there.
    SourceError : it cannot be read or is the wrong one.
    OutputError : the copy cannot be written.
    """
    if not path.exists():
        raise AbsentError("not there", path=path)
    try:
        _keep(_read(path), target, source)
    except SourceError as error:
        raise SourceError(error.message, path=path, remedy=error.remedy) from error


def _read(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as handle:
            while chunk := handle.read(CHUNK):
                yield chunk
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise SourceError(message, path=path, remedy="make it readable, or remove it") from error


def download(
    url: str,
    target: Path,
    source: Source,
    *,
    attempts: int = 3,
    timeout: tuple[float, float] = (10.0, 30.0),
    pause: float = 1.0,
    deadline: float = 600.0,
    limit: int = LIMIT,
) -> None:
    """Download a file, if it is the right one.

    Parameters
    ----------
    attempts : tries, where a connection fails, a body breaks off or the server is in trouble
    timeout : seconds to connect, and seconds without a byte
    pause : seconds between tries, doubled for each further one
    deadline : seconds for the whole transfer, over all tries
    limit : most bytes of a file whose size is not known

    Raises
    ------
    AbsentError : the server does not have the file, or gives a page of HTML in its stead.
    SourceError : the server cannot be asked, or has the wrong file.
    OutputError : the file cannot be written.
    """
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry
    from urllib3.exceptions import HTTPError

    until = time.monotonic() + deadline
    # A server may ask for hours in Retry-After; nobody waits for that.
    patience = Retry(
        attempts - 1,
        backoff_factor=pause,
        status_forcelist=PASSING,
        raise_on_status=False,
        respect_retry_after_header=False,
    )
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(max_retries=patience))
        session.mount("https://", HTTPAdapter(max_retries=patience))
        # Retry ends where a body begins; a body that breaks off is asked for again here.
        for attempt in range(1, attempts + 1):
            try:
                with session.get(url, stream=True, timeout=timeout) as answer:
                    _refuse(answer, source)
                    _keep(_body(answer, source, until, limit), target, source)
                return
            except requests.RequestException as error:
                raise SourceError(_short(error)) from error
            except HTTPError as error:
                reason = _short(error)
            log.warning("%s: attempt %d of %d failed: %s", url, attempt, attempts, reason)
            if attempt < attempts:
                time.sleep(pause * 2 ** (attempt - 1))
    raise SourceError(f"{reason} ({attempts} attempts)")


def _refuse(answer: requests.Response, source: Source) -> None:
    """Raise SourceError if an answer's head tells that it is not the file."""
    if not answer.ok:
        kind = AbsentError if answer.status_code in {404, 410} else SourceError
        raise kind(f"the server said {answer.status_code} {answer.reason}")
    if _is_page(answer) and not is_html(source.path):
        raise AbsentError("the server gave a page of HTML")


def _is_page(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Type", "").lower().startswith("text/html")


def _body(answer: requests.Response, source: Source, until: float, limit: int) -> Iterator[bytes]:
    """The body of an answer, no further than the source's size, or the limit, and in time.

    Raises
    ------
    SourceError : there is more than that, or it takes longer.
    urllib3.exceptions.HTTPError : it breaks off.
    """
    from urllib3.exceptions import IncompleteRead

    received = 0
    # read1 returns what has come: read would wait for a whole chunk, past any deadline.
    while chunk := answer.raw.read1(CHUNK, decode_content=True):
        received += len(chunk)
        most = limit if source.bytes is None else source.bytes
        if received > most:
            raise SourceError(f"is longer than the {most:,} bytes that {source.path} may have")
        if time.monotonic() > until:
            raise SourceError(f"was given up at the deadline, after {received:,} bytes")
        yield chunk
    if source.bytes and received < source.bytes and "Content-Length" not in answer.headers:
        raise IncompleteRead(received, source.bytes - received)


def _keep(chunks: Iterator[bytes], target: Path, source: Source) -> None:
    """Write bytes to a temporary name beside the target, and move them there if they are right."""
    from tqdm import tqdm

    with whole_file(target) as partial:
        with (
            open(partial, "wb") as out,
            # disable=None: no bar where standard error is not a terminal
            tqdm(
                total=source.bytes, unit="B", unit_scale=True, desc=source.path, disable=None
            ) as bar,
        ):
            for chunk in chunks:
                out.write(chunk)
                bar.update(len(chunk))
        verify(partial, source)
    log.info("%s: %s bytes, verified", target, f"{target.stat().st_size:,}")


def answers(url: str, timeout: float = 5.0) -> bool:
    """Whether a file can be had from an address, by the headers alone."""
    import requests

    try:
        with requests.head(url, timeout=timeout, allow_redirects=True) as answer:
            return answer.ok and (is_html(url) or not _is_page(answer))
    except requests.RequestException:
        return False


def _short(error: BaseException) -> str:
    """A network error's kind and its innermost cause, without the layers between."""
    kind, cause = type(error).__name__, error
    while True:
        inner = getattr(cause, "reason", None) or (cause.args[0] if cause.args else None)
        if not isinstance(inner, BaseException):
            break
        cause = inner
    # urllib3 puts the connection's repr before the reason
    return f"{kind}: {str(cause).split('): ', 1)[-1]}"
