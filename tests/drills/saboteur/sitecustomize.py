"""Makes one job of a workflow fail at its worst moment; Python imports this by itself at its start.

Told by the environment: DRILL_SCRIPT, the job's module or its script, of which Snakemake runs a
copy named ``.snakemake/scripts/tmp123.<script>``; DRILL_DEED, what happens to it; DRILL_DONE, a
file that is made then, so that it happens once. The worst moment is just before a finished
temporary file takes the place of the result, whose record is there already.
"""

import errno
import os
import signal
import sys
import time
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
    try:
        with open(os.environ["DRILL_DONE"], "x") as done:
            done.write(" ".join(map(os.environ.get, ("SLURM_JOB_ID", "SLURMD_NODENAME"), "  ")))
    except FileExistsError:  # another job was first
        return
    if deed == "power":
        os.kill(_snakemake(), signal.SIGKILL)
    if deed in ("power", "kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    if deed == "terminate":  # scancel
        os.kill(_snakemake(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    if deed == "orphan":  # Snakemake dies, its job goes on
        os.kill(_snakemake(), signal.SIGKILL)
    if deed == "hang":  # until somebody kills it, or says that it may go on
        end = time.monotonic() + 300
        while not Path(os.environ["DRILL_DONE"]).with_suffix(".on").exists():
            if time.monotonic() > end:
                raise TimeoutError("nobody came to end this drill")
            time.sleep(0.1)
    if deed == "full":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _sabotage():
    if Path(os.environ["DRILL_DONE"]).exists():
        return
    replace = os.replace

    def replaced(source, target):
        path = Path(os.path.relpath(target))  # links were followed on the way to it
        folder, record = path.parts[0], path.suffix == ".json"
        result = folder == "resources" or (folder == "results" and not record)
        if result and not Path(os.environ["DRILL_DONE"]).exists():
            _deed()
        replace(source, target)

    os.replace = replaced


_script = os.environ.get("DRILL_SCRIPT")
if _script and any(f".{word}".endswith(f".{_script}") for word in sys.orig_argv):
    _sabotage()
