"""A command beside a Slurm of three nodes with accounting, for tests: `make test-slurm`.

    python tests/slurm/cluster.py COMMAND ...      # or `bash`, to look around
    python tests/slurm/cluster.py                  # only say whether it could run here

Stage: none. In: Debian's packages slurm-wlm, munge, slurmdbd and mariadb-server, and root.
Out: what the command does. It runs in namespaces of its own, with the daemons: a list of processes,
a network, and a /etc/slurm in memory that also holds all of the cluster's files and the temporary
ones. Nothing of this is seen outside, a Slurm of this machine is not touched, and when the command
has ended, or this program was killed, no process and no file is left. The nodes share this machine:
what they are said to have stands in slurm.conf.
"""

import fcntl
import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

ETC = Path("/etc/slurm")
STATE = ETC / "refless"
NODES = ("n1", "n2", "n3")
CONFIGURATION = {
    **{n: Path(__file__).with_name(n).read_text("utf-8") for n in ("slurm.conf", "slurmdbd.conf")},
    # A GPU in Slurm's books alone: no device stands behind it.
    "gres.conf": "Name=gpu File=/dev/null\n",
}
PACKAGES = "slurm-wlm munge slurmdbd mariadb-server"
PROGRAMS = ["munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd"]
PROGRAMS += ["sbatch", "srun", "squeue", "scontrol", "sinfo", "sacct", "sacctmgr"]
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
# The namespaces end with this program, however it ends, and all processes in them.
APART = "setpriv --pdeathsig KILL unshare --mount --net --pid --fork --kill-child --mount-proc"
INSIDE = "REFLESS_CLUSTER"
# Of Linux's netdevice(7).
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
# Seconds; everything goes on as soon as it can.
PATIENCE = 300


class SlurmError(RuntimeError):
    pass


def obstacle() -> str:
    """Why no Slurm can be started here, and what would help; empty if nothing is in the way."""
    if os.geteuid() != 0:
        return "a Slurm of one's own must be started as root"
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if missing:
        return (
            f"Slurm's programs are missing ({', '.join(missing)}): on Debian, as root,"
            f" apt-get install {PACKAGES}"
        )
    if subprocess.run([*APART.split(), "true"], capture_output=True, check=False).returncode:
        return "this machine does not let root make namespaces (unshare), as in some containers"
    return ""


def start() -> None:
    """Start the daemons, in namespaces of their own, and wait until all nodes take jobs."""
    try:
        _call("mount", "-t", "tmpfs", "-o", "mode=755", "refless", str(ETC))
        for directory in ("state", "munge", "mariadb", "tmp", *(f"spool.{node}" for node in NODES)):
            (STATE / directory).mkdir(parents=True)
        for name, text in CONFIGURATION.items():
            path = ETC / name
            path.write_text(text.replace("{state}", str(STATE)), encoding="utf-8")
            path.chmod(0o600 if name == "slurmdbd.conf" else 0o644)  # one holds a password
        _start_network()
        _start_munge()
        _start_database()
        _call("slurmdbd")
        # Slurm's controller takes no jobs while the books do not know its cluster.
        wait_for(lambda: "root" in _output("sacctmgr", "show", "user"))
        _call("sacctmgr", "--immediate", "add", "cluster", "refless")
        _call("slurmctld")
        for node in NODES:
            _call("slurmd", "-N", node)
        wait_for(lambda: idle() == set(NODES))
    except (SlurmError, subprocess.CalledProcessError) as error:
        raise SlurmError(f"the cluster did not come up: {error}\n{_logs()}") from error


def lose_node(node: str, job: str) -> None:
    """Kill a node's daemon and all that runs on it, as if its power were gone.

    Slurm is told what it would find out after SlurmdTimeout, and that the job on the node, which it
    gives to another one, need not wait for two minutes first.
    """
    _kill(int((STATE / f"slurmd.{node}.pid").read_text()))
    for process in [int(path.name) for path in Path("/proc").glob("[0-9]*")]:
        if f"SLURMD_NODENAME={node}".encode() in _of(process, "environ").split(b"\0"):
            for above in _above(process):
                if _of(above, "cmdline").startswith(b"slurmstepd:"):
                    _kill(above)
            _kill(process)
    _call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")
    _call("scontrol", "update", f"JobId={job}", "StartTime=now")


def bring_back(node: str) -> None:
    """Start a node that was lost, and wait until it takes jobs."""
    _call("slurmd", "-N", node)
    wait_for(lambda: node in idle())


def idle() -> set[str]:
    """The nodes that run nothing and would take a job."""
    return set(_output("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N").split())


def wait_for(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise SlurmError(f"nothing after {PATIENCE} s")
        time.sleep(0.2)


def _start_network() -> None:
    """A network of this machine with itself. Slurm serves no machine that has 127.0.0.1 alone."""
    address = struct.pack("=H2x4s8x", socket.AF_INET, socket.inet_aton("10.11.12.13"))
    with socket.socket() as any_socket:
        for name, number, value in (
            (b"lo", SIOCSIFFLAGS, struct.pack("=H", IFF_UP)),
            (b"lo:1", SIOCSIFADDR, address),
        ):
            fcntl.ioctl(any_socket, number, struct.pack("=16s24s", name, value))


def _start_munge() -> None:
    home = STATE / "munge"
    (home / "key").write_bytes(os.urandom(128))
    (home / "key").chmod(0o600)
    user = pwd.getpwnam("munge")
    for path in (home, home / "key"):
        os.chown(path, user.pw_uid, user.pw_gid)
    munged = str(shutil.which("munged", path=PATH))
    options = [f"--socket={home}/socket", f"--key-file={home}/key", f"--seed-file={home}/seed"]
    options += [f"--pid-file={home}/munged.pid", f"--log-file={home}/munged.log"]
    _call("runuser", "-u", "munge", "--", munged, *options)


def _start_database() -> None:
    home = STATE / "mariadb"
    user = pwd.getpwnam("mysql")
    os.chown(home, user.pw_uid, user.pw_gid)
    first = home / "first.sql"
    first.write_text(
        "CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm';\n"
        "GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';\n"
    )
    common = ["--no-defaults", "--user=mysql", f"--datadir={home}/data"]
    with open(home / "mariadbd.log", "w") as log:
        _call("mariadb-install-db", *common, "--skip-test-db", stderr=log)
        options = ["--bind-address=127.0.0.1", f"--init-file={first}", f"--socket={home}/socket"]
        options += [f"--pid-file={home}/mariadbd.pid", "--innodb-buffer-pool-size=64M"]
        options += ["--innodb-lock-wait-timeout=900"]
        told: dict[str, Any] = {"env": {**os.environ, "PATH": PATH}, "stdin": subprocess.DEVNULL}
        subprocess.Popen(["mariadbd", *common, *options], **told, stdout=log, stderr=log)
    wait_for((home / "mariadbd.pid").exists)


def _kill(process: int) -> None:
    if process > 1:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _above(process: int) -> Iterator[int]:
    while process > 1:
        stat = _of(process, "stat").rpartition(b")")[2].split()
        process = int(stat[1]) if stat else 0
        yield process


def _of(process: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{what}").read_bytes()
    except OSError:
        return b""


def _call(*command: str, stderr: TextIO | None = None) -> None:
    nothing = subprocess.DEVNULL
    environment = {**os.environ, "PATH": PATH}
    subprocess.run(
        command, check=True, env=environment, stdin=nothing, stdout=nothing, stderr=stderr
    )


def _output(*command: str) -> str:
    """What a client of Slurm prints; empty where it fails."""
    told: dict[str, Any] = {"env": {**os.environ, "PATH": PATH}, "stdin": subprocess.DEVNULL}
    result = subprocess.run(command, **told, capture_output=True, text=True, check=False)
    return result.stdout if result.returncode == 0 else ""


def _logs() -> str:
    paths = sorted(STATE.rglob("*.log"))
    return "\n".join(f"{p.name}: {p.read_text(errors='replace')[-1500:]}" for p in paths)


def _inside(command: list[str]) -> int:
    """The first process of the namespaces: it also collects what others leave."""
    start()
    environment = {**os.environ, "TMPDIR": str(STATE / "tmp")}
    wanted = subprocess.Popen(command, env=environment).pid
    while True:
        process, status = os.wait()
        if process == wanted:
            return abs(os.waitstatus_to_exitcode(status))


def main() -> int:
    try:
        if INSIDE in os.environ:
            return _inside(sys.argv[1:])
        if reason := obstacle():
            raise SlurmError(reason)
        if not sys.argv[1:]:
            return 0
        again = [*APART.split(), sys.executable, __file__, *sys.argv[1:]]
        return subprocess.run(again, env={**os.environ, INSIDE: "1"}, check=False).returncode
    except SlurmError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
