"""A mutant: one small wrong variant of ``corecall``, and its way into a copy of the package."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "refimpl"


@dataclass(frozen=True, slots=True)
class Mutant:
    """``old`` stands exactly once in ``file`` (beneath ``corecall/``) and becomes ``new``.

    ``rule`` is the rule of CONTRACT.md that the variant breaks, ``fault`` what a user would see.
    ``observable`` is false for a variant that no operation of the conformance protocol can show;
    ``reason`` then says why.
    """

    name: str
    rule: str
    file: str
    old: str
    new: str
    fault: str
    observable: bool = True
    reason: str = ""

    def problem(self) -> str:
        """Say why the mutant does not apply to the code as it is; ``""`` if it does."""
        path = SOURCE / "corecall" / self.file
        if not path.exists():
            return f"there is no {self.file}"
        found = path.read_text(encoding="utf-8").count(self.old)
        return "" if found == 1 else f"{self.old!r} stands {found} times in {self.file}"

    def apply(self, package: Path) -> None:
        """Write the variant into a copy of ``corecall`` at ``package``."""
        path = package / self.file
        text = (SOURCE / "corecall" / self.file).read_text(encoding="utf-8")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")

    def restore(self, package: Path) -> None:
        """Take the variant out of the copy again."""
        shutil.copyfile(SOURCE / "corecall" / self.file, package / self.file)
