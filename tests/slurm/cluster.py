"""A Slurm of three nodes with accounting on this machine, for tests: start it, stop it.

    python tests/slurm/cluster.py start     # then sinfo, sbatch, squeue, sacct as usual
    python tests/slurm/cluster.py stop
    python tests/slurm/cluster.py run COMMAND ...

Stage: none. In: Debian's packages slurm-wlm, munge, slurmdbd and mariadb-server, and root.
Out: a running Slurm, its files under STATE; `stop` leaves nothing behind. A configuration of Slurm
that was there is put aside and put back. The nodes share this machine: what they are said to have
stands in slurm.conf.
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
from contextlib import contextmanager, suppress
from pathlib import Path

STATE = Path("/var/tmp/refless-cluster")
ETC = Path("/etc/slurm")
ASIDE = ".before-refless"
NODES = ("n1", "n2", "n3")
CONFIGURATION = {
    **{n: Path(__file__).with_name(n).read_text("utf-8") for n in ("slurm.conf", "slurmdbd.conf")},
    # A GPU in Slurm's books alone: no device stands behind it.
    "gres.conf": "# For {state}\nName=gpu File=/dev/null\n",
}
PACKAGES = "slurm-wlm munge slurmdbd mariadb-server"
PROGRAMS = ["munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd"]
PROGRAMS += ["sbatch", "srun", "squeue", "scontrol", "sinfo", "sacct", "sacctmgr"]
# The daemons in the order of their start, with the files that hold their numbers.
DAEMONS = {
    "munged": STATE / "munge/munged.pid",
    "mariadbd": STATE / "mariadb/mariadbd.pid",
    "slurmdbd": STATE / "slurmdbd.pid",
    "slurmctld": STATE / "slurmctld.pid",
    **{f"slurmd {node}": STATE / f"slurmd.{node}.pid" for node in NODES},
}
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


class SlurmError(RuntimeError):
    """The cluster cannot run here, or did not come up."""


def obstacle() -> str:
    """Why no Slurm can be started here, and what would help; empty if nothing is in the way."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if missing:
        return (
            f"Slurm's programs are missing ({', '.join(missing)}): on Debian, as root,"
            f" apt-get install {PACKAGES}"
        )
    if os.geteuid() != 0:
        return "a Slurm of one's own must be started as root"
    if any(own(name) for name in DAEMONS):
        return f"the tests' Slurm runs already; to end it: python {Path(__file__)} stop"
    if any(map(_running, ("slurmctld", "slurmdbd", "slurmd"))) or " is UP" in _output(
        "scontrol", "ping"
    ):
        return "this machine has a Slurm already, which is left alone"
    return ""


def start() -> None:
    """Start the daemons and wait until all nodes take jobs.

    Raises ``SlurmError`` where that is impossible, with the end of the daemons' logs.
    """
    if reason := obstacle():
        raise SlurmError(reason)
    stop()
    try:
        _configure()
        _start_munge()
        _start_database()
        _call("slurmdbd")
        # Slurm's controller takes no jobs while the books do not know its cluster.
        _wait(lambda: "root" in _output("sacctmgr", "show", "user"), 20)
        _call("sacctmgr", "--immediate", "add", "cluster", "refless")
        _call("slurmctld")
        for node in NODES:
            start_node(node)
        _wait(lambda: idle() == set(NODES), 60)
    except (SlurmError, subprocess.CalledProcessError) as error:
        logs = _logs()
        stop()
        raise SlurmError(f"the cluster did not come up: {error}\n{logs}") from error


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


def start_node(node: str) -> None:
    """Start the daemon of a node."""
    _call("slurmd", "-N", node)


def lose_node(node: str) -> None:
    """Kill a node's daemon and all that runs on it, as if its power were gone."""
    _kill(own(f"slurmd {node}"))
    for process in (int(path.name) for path in Path("/proc").glob("[0-9]*")):
        if f"SLURMD_NODENAME={node}".encode() in _of(process, "environ").split(b"\0"):
            for above in _above(process):
                if _of(above, "cmdline").startswith(b"slurmstepd:"):
                    _kill(above)
            _kill(process)


def _kill(process: int) -> None:
    if process > 1:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _above(process: int) -> Iterator[int]:
    """The processes above one."""
    while process > 1:
        stat = _of(process, "stat").rpartition(b")")[2].split()
        process = int(stat[1]) if stat else 0
        yield process


def _of(process: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{what}").read_bytes()
    except OSError:
        return b""


def idle() -> set[str]:
    """The nodes that run nothing and would take a job."""
    return set(_output("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N").split())


@contextmanager
def cluster() -> Iterator[None]:
    """A running cluster; it is stopped whatever happens."""
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
    return process if _is(process, name.split()[0]) else 0


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
    for directory in ("state", "munge", "mariadb", *(f"spool.{node}" for node in NODES)):
        (STATE / directory).mkdir(parents=True)
    for name, text in CONFIGURATION.items():
        path = ETC / name
        if path.exists():
            path.rename(path.with_name(name + ASIDE))
        path.write_text(text.replace("{state}", str(STATE)), encoding="utf-8")
        path.chmod(0o600 if name == "slurmdbd.conf" else 0o644)  # one holds a password


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


def _start_database() -> None:
    """MariaDB with files, a socket and a port of its own."""
    home = STATE / "mariadb"
    user = pwd.getpwnam("mysql")
    os.chown(home, user.pw_uid, user.pw_gid)
    first = home / "first.sql"
    first.write_text(
        "CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm';\n"
        "GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';\n"
    )
    common = ["--no-defaults", "--user=mysql", f"--datadir={home}/data"]
    _call("mariadb-install-db", *common, "--skip-test-db")
    with open(home / "mariadbd.log", "w") as log:
        subprocess.Popen(
            [
                "mariadbd",
                *common,
                "--bind-address=127.0.0.1",
                "--port=16820",
                f"--init-file={first}",
                f"--socket={home}/socket",
                f"--pid-file={DAEMONS['mariadbd']}",
                "--innodb-buffer-pool-size=64M",
                "--innodb-lock-wait-timeout=900",
            ],
            env={**os.environ, "PATH": PATH},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _wait(lambda: bool(own("mariadbd")), 60)


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
        if own(name) == process > 1:
            os.kill(process, kind)
            _wait(lambda: not own(name), 10, strict=False)


def _logs() -> str:
    """The last lines of the daemons' logs."""
    paths = sorted(STATE.rglob("*.log"))
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
            with cluster():
                return subprocess.run(arguments.command, check=False).returncode
    except SlurmError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
