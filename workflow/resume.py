"""Go on after a run that was killed: ``python workflow/resume.py --cores 8``, or ``make resume``.

Takes what `snakemake` takes. Snakemake leaves its lock behind when it is killed (SIGKILL), and asks
for `--unlock` and then for the command again. This does both, but not while a run still goes on:
that one holds a lock of ours, which the system takes back from a process that is no more.
"""

import argparse
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 5
"""Seconds in which a process that was just killed may still be taken down."""
arguments = sys.argv[1:]
snakemake = [sys.executable, "-m", "snakemake"]
parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
parser.add_argument("-d", "--directory", default=".")
place = os.path.abspath(parser.parse_known_args(arguments)[0].directory)
lock = Path(place, ".snakemake/refless.lock")
if lock.exists():
    with open(lock) as held:
        for second in range(PATIENCE + 1):
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if second == PATIENCE:
                    sys.exit(f"error: a run goes on in {place}; wait for it, or end it first")
                time.sleep(1)
    if subprocess.run([*snakemake, "--unlock", *arguments], check=False).returncode:
        sys.exit(1)
os.execv(sys.executable, [*snakemake, *arguments])
