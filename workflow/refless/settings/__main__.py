"""Print docs/settings.md: every setting, made from the models. Stage: none."""

from __future__ import annotations

from refless.settings._document import document

if __name__ == "__main__":
    print(document(), end="")
