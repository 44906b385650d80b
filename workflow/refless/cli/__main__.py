"""``python -m refless.cli`` is ``refless``."""

from refless.cli import main

raise SystemExit(main())
