"""A Slurm of one node on this machine, for tests: start it, stop it, leave nothing behind.

    python tests/slurm/one_node.py start     # then sinfo, sbatch, squeue as usual
    python tests/slurm/one_node.py stop
    python tests/slurm/one_node.py run COMMAND ...

Stage: none. In: Debian's packages slurm-wlm and munge, and the user root. Out: a running Slurm, its
files under STATE. A configuration of Slurm that was there is put aside and put back by `stop`.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

STATE = Path("/var/tmp/refless-one-node")
ETC = Path("/etc/slurm")
ASIDE = ".before-refless"
CONFIGURATION = {
    "slurm.conf": Path(__file__).with_name("slurm.conf").read_text(encoding="utf-8"),
    # A GPU in Slurm's books alone: no device stands behind it.
    "gres.conf": "# For {state}\nName=gpu File=/dev/null\n",
}
PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "sinfo"]
# The daemons in the order of their start, with the files that hold their numbers.
DAEMONS = {
    "munged": STATE / "munge/munged.pid",
    "slurmctld": STATE / "slurmctld.pid",
    "slurmd": STATE / "slurmd.pid",
}
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


class SlurmError(RuntimeError):
    """The one-node Slurm cannot run here, or did not come up."""


def obstacle() -> str:
    """Why no Slurm can be started here, and what would help; empty if nothing is in the way."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if missing:
        return (
            f"Slurm's programs are missing ({', '.join(missing)}): on Debian, as root,"
            " apt-get install slurm-wlm munge"
        )
    if os.geteuid() != 0:
        return "a Slurm of one's own must be started as root"
    if any(own(name) for name in DAEMONS):
        return f"the one-node Slurm runs already; to end it: python {Path(__file__)} stop"
    if _running("slurmctld") or _running("slurmd") or " is UP" in _output("scontrol", "ping"):
        return "this machine has a Slurm already, which is left alone"
    return ""


def start() -> None:
    """Start the daemons and wait until the node takes jobs.

    Raises ``SlurmError`` where that is impossible, with the end of the daemons' logs.
    """
    if reason := obstacle():
        raise SlurmError(reason)
    stop()
    try:
        _configure()
        _start_munge()
        for name in ("slurmctld", "slurmd"):
            options = ["-N", "localhost"] if name == "slurmd" else []
            _call(name, *options)
        _wait(lambda: _output("sinfo", "--noheader", "--format=%T").strip() == "idle", 60)
    except (SlurmError, subprocess.CalledProcessError) as error:
        logs = _logs()
        stop()
        raise SlurmError(f"the one-node Slurm did not come up: {error}\n{logs}") from error


def stop() -> None:
    """End the jobs and the daemons that `start` started, and put back what was there before."""
    if own("slurmctld"):
        _output("scancel", "--user=root")
        _wait(lambda: not _output("squeue", "--noheader").strip(), 20, strict=False)
    for name in reversed(DAEMONS):
        _end(name)
    for name in CONFIGURATION:
        _restore(ETC / name)
    shutil.rmtree(STATE, ignore_errors=True)


@contextmanager
def one_node() -> Iterator[None]:
    """A running one-node Slurm; it is stopped whatever happens."""
    try:
        start()
        yield
    finally:
        stop()


def own(name: str) -> int:
    """The process of a daemon that `start` started; 0 if it does not run."""
    try:
        process = int(DAEMONS[name].read_text())
    except (OSError, ValueError):
        return 0
    return process if _is(process, name) else 0


def _is(process: int, name: str) -> bool:
    """Whether a process runs under this name; one that has ended and was not collected does not."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    return status.startswith(f"Name:\t{name}\n") and "State:\tZ" not in status


def _running(name: str) -> bool:
    """Whether any process of this name runs."""
    return any(_is(int(path.name), name) for path in Path("/proc").glob("[0-9]*"))


def _configure() -> None:
    ETC.mkdir(exist_ok=True)
    for directory in ("state", "spool", "munge"):
        (STATE / directory).mkdir(parents=True)
    for name, text in CONFIGURATION.items():
        path = ETC / name
        if path.exists():
            path.rename(path.with_name(name + ASIDE))
        path.write_text(text.replace("{state}", str(STATE)), encoding="utf-8")


def _restore(path: Path) -> None:
    """Put back a file that was put aside; remove ours where there was none."""
    aside = path.with_name(path.name + ASIDE)
    if aside.exists():
        aside.replace(path)
    elif str(STATE) in _text(path):
        path.unlink()


def _start_munge() -> None:
    """Munge with a key and a socket of its own, so that one that runs already is left alone."""
    home = STATE / "munge"
    (home / "key").write_bytes(os.urandom(128))
    (home / "key").chmod(0o600)
    user = pwd.getpwnam("munge")
    for path in (home, home / "key"):
        os.chown(path, user.pw_uid, user.pw_gid)
    options = {
        "socket": home / "socket",
        "key-file": home / "key",
        "pid-file": DAEMONS["munged"],
        "log-file": home / "munged.log",
        "seed-file": home / "seed",
    }
    munged = shutil.which("munged", path=PATH)
    arguments = [f"--{name}={value}" for name, value in options.items()]
    _call("runuser", "-u", "munge", "--", str(munged), *arguments)


def _call(*command: str) -> None:
    subprocess.run(
        command,
        check=True,
        env={**os.environ, "PATH": PATH},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def _output(*command: str) -> str:
    """What a client of Slurm prints; empty where it fails."""
    result = subprocess.run(
        command,
        env={**os.environ, "PATH": PATH},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return result.stdout if result.returncode == 0 else ""


def _wait(holds: Callable[[], bool], seconds: float, strict: bool = True) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            if strict:
                raise SlurmError(f"nothing after {seconds:.0f} s")
            return
        time.sleep(0.2)


def _end(name: str) -> None:
    """End a daemon of ours, gently at first."""
    process = own(name)
    for kind in (signal.SIGTERM, signal.SIGKILL):
        if _is(process, name):
            os.kill(process, kind)
            _wait(lambda: not _is(process, name), 10, strict=False)


def _logs() -> str:
    """The last lines of the daemons' logs."""
    paths = [STATE / "munge/munged.log", STATE / "slurmctld.log", STATE / "slurmd.log"]
    return "\n".join(f"{path.name}: {_text(path)[-1500:]}" for path in paths)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["start", "stop", "run"])
    parser.add_argument("command", nargs=argparse.REMAINDER, help="for `run`")
    arguments = parser.parse_args()
    try:
        if arguments.action == "start":
            start()
        elif arguments.action == "stop":
            stop()
        else:
            with one_node():
                return subprocess.run(arguments.command, check=False).returncode
    except SlurmError as error:
        print(f"one_node: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
