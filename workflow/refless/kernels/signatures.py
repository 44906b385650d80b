"""What decides a kernel's values besides its name: options, and the sums of its files.

Stage: kernels (helper). Paths, times and machines are not in it.
"""

from __future__ import annotations

import json
from typing import Any

from refless.errors import KernelError
from refless.kernels._registry import entry, load


def signature(name: str, **options: Any) -> dict[str, Any]:
    """The ``options`` of a kernel, and the sums of its ``resources``, which must be at hand.

    Options that say where a resource lies are left out; the resource's sum is there.

    Raises
    ------
    KernelError : unknown kernel, a missing resource, or an option that JSON cannot hold.
    """
    known = entry(name)
    places = {key: options.pop(key) for key in known.places if key in options}
    resources = load(name).resources(name, **places) if known.places else {}
    try:
        options = json.loads(json.dumps(options, sort_keys=True))
    except (TypeError, ValueError) as error:
        raise KernelError(f"an option of {name} cannot be signed: {error}") from error
    return {"options": options, "resources": dict(resources)}
