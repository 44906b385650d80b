"""Makes one job of a workflow fail at its worst moment; Python imports this by itself at its start.

Told by the environment: DRILL_SCRIPT, the script of the job; DRILL_DEED, what happens to it;
DRILL_DONE, a file that is made then, so that it happens once. The worst moment is just before a
finished temporary file takes the place of the result.
"""

import errno
import os
import signal
import sys
from pathlib import Path


def _snakemake():
    """The process of Snakemake above this one."""
    pid = os.getpid()
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if words[1:3] == [b"-m", b"snakemake"]:
            return pid
    raise RuntimeError("no Snakemake above this process")


def _deed():
    deed = os.environ["DRILL_DEED"]
    Path(os.environ["DRILL_DONE"]).touch()
    if deed == "power":
        os.kill(_snakemake(), signal.SIGKILL)
    if deed in ("power", "kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    if deed == "orphan":  # Snakemake dies, its job goes on
        os.kill(_snakemake(), signal.SIGKILL)
    if deed == "full":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _sabotage():
    script = os.environ.get("DRILL_SCRIPT")
    if not script or not any(Path(word).name == script for word in sys.orig_argv):
        return
    if Path(os.environ["DRILL_DONE"]).exists():
        return
    replace = os.replace

    def replaced(source, target):
        if not Path(os.environ["DRILL_DONE"]).exists():
            _deed()
        replace(source, target)

    os.replace = replaced


_sabotage()
