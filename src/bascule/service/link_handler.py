"""Makes Bascule the program that opens `bascule://` links on a Linux desktop: a desktop entry of the user."""

from collections.abc import Sequence
from pathlib import Path

from bascule.service.programs import Run
from bascule.service.unit_files import ENTRY, SCHEME_TYPE, desktop_entry
from bascule.service.user_service import write_if_changed


class LinkHandler:
    """`data` is `$XDG_DATA_HOME`, or `~/.local/share`."""

    def __init__(self, argv: Sequence[str], data: Path, run: Run) -> None:
        self._folder, self._run = data / "applications", run
        self._content = desktop_entry(argv).encode()

    @property
    def file(self) -> Path:
        return self._folder / ENTRY

    def install(self) -> bool:
        """Whether it was registered; a desktop without xdg-utils looks for itself, or not at all."""
        write_if_changed(self.file, self._content)
        self._refresh()
        return self._run(["xdg-mime", "default", ENTRY, SCHEME_TYPE]).ok

    def uninstall(self) -> bool:
        if not self.file.is_file():
            return False
        self.file.unlink()
        self._refresh()
        return True

    def _refresh(self) -> None:
        """The desktop's cache of who opens what; where there is no such program, there is no such cache."""
        self._run(["update-desktop-database", str(self._folder)])
