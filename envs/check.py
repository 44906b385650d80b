"""Licences and known vulnerabilities of what the locks install: ``make audit``.

    python envs/check.py licences           # of this environment, as packages state them
    python envs/check.py vulnerabilities    # of the locks, with pip-audit; needs PyPI

Both end with 1 if they find something. Where PyPI cannot be asked, the second says that it did not
run, and ends with 0.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

LOCKS = sorted(Path(__file__).with_name("lock").glob("*.txt"))
ALLOWED = re.compile(
    r"(the )?(MIT(-CMU|-0)?|(\d-clause )?(0?BSD|BSL)(-\d-clause|-\d\.\d| 3-clause)?"
    r"|apache( software|-2\.0| 2\.0|, version 2\.0)?( with LLVM-exception)?"
    r"|MPL-2\.0|mozilla public license 2\.0 \(MPL 2\.0\)"
    r"|PSF(-2\.0|L)?|python software foundation|CNRI-Python|CC0-1\.0|ISC|zlib|unlicense)"
    r"( licen[cs]e)?( \(ISCL\))?",
    re.IGNORECASE,
)
BY_HAND = {
    "docutils": "public domain and BSD; what is GPL is a mode for Emacs",
    "matplotlib": "its own, after that of Python (PSF)",
    "pygithub": "LGPL; of snakedeploy, which one test runs; nothing that is shipped imports it",
    "cuda-toolkit": "NVIDIA's, as the packages nvidia-*, which torch's wheel for GPUs wants",
}
"""Packages that say too much or nothing of use, and what somebody read in their licence."""


def stated(package: importlib.metadata.Distribution) -> list[str]:
    """What a package says of its licence: an expression, or else classifiers, a field, a file."""
    about = package.metadata
    if about.get("License-Expression"):
        return re.split(r" AND |[()]", about["License-Expression"])
    every = about.get_all("Classifier") or []
    classifiers = [c.rpartition(" :: ")[2] for c in every if c.startswith("License ::")]
    field = (about.get("License") or "").strip()
    if classifiers or field:
        return classifiers or re.split(r" AND |[()]", field.splitlines()[0])
    files = [
        f for f in package.files or [] if re.match("licen[cs]e|copying", f.name, re.IGNORECASE)
    ]
    return [files[0].read_text().strip().splitlines()[0]] if files else []


def is_allowed(parts: Iterable[str]) -> bool:
    """Whether every part of a licence has an alternative that is allowed."""
    parts = [part.strip() for part in parts if part.strip()]
    return bool(parts) and all(
        any(ALLOWED.fullmatch(one.strip()) for one in part.split(" OR ")) for part in parts
    )


def licences() -> int:
    """Print what is not allowed; 1 if there is any."""
    packages = {p.metadata["Name"].lower(): stated(p) for p in importlib.metadata.distributions()}
    others = {
        name: parts
        for name, parts in packages.items()
        if name not in BY_HAND and not name.startswith("nvidia-") and not is_allowed(parts)
    }
    for name, parts in sorted(others.items()):
        print(f"{name}: licence {'; '.join(parts) or 'not stated'} is not on the list")
    print(f"licences: {len(packages)} packages looked at, {len(others)} not on the list")
    return int(bool(others))


def vulnerabilities() -> int:
    """Print what is known against the locked packages; 1 if there is anything."""
    asked: dict[str, bool] = {}
    found: list[str] = []
    for lock in LOCKS:
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--no-deps"]
        command += ["--disable-pip", "--format=json", "--progress-spinner=off", "--timeout=15"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        start = run.stdout.find("{")
        if start < 0:
            print(f"{lock.name}: {(run.stderr.strip().splitlines() or ['no answer'])[-1]}")
            continue
        for one in json.loads(run.stdout[start:])["dependencies"]:
            asked[one["name"]] = "skip_reason" not in one
            found += [f"{one['name']} {one['version']}: {v['id']}" for v in one.get("vulns", [])]
    answered = sum(asked.values())
    if not answered:
        print("vulnerabilities: NOT CHECKED, since PyPI gave no answer about any package")
        return 0
    print(
        f"vulnerabilities: {answered} of {len(asked)} packages looked up, {len(set(found))} known"
    )
    print("\n".join(sorted(set(found))), end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit({"licences": licences, "vulnerabilities": vulnerabilities}[sys.argv[1]]())
