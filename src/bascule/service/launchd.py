"""Bascule as a LaunchAgent of the user under macOS, which starts at log-in."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bascule.service.programs import Run
from bascule.service.unit_files import LABEL, agent_plist
from bascule.service.user_service import ServiceFailed, ServiceState, write_if_changed


class LaunchAgent:
    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], home: Path, uid: int, run: Run
    ) -> None:
        self._run, self._domain = run, f"gui/{uid}"
        self.file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._log = home / "Library" / "Logs" / "bascule.log"
        self._content = agent_plist(argv, environment, str(self._log))

    def install(self, *, restart: bool = False) -> bool:
        changed = write_if_changed(self.file, self._content)
        loaded, again = self._loaded(), changed or restart
        if loaded and again:  # launchd goes on with the old file until it is unloaded
            self._run(["launchctl", "bootout", f"{self._domain}/{LABEL}"])
        if not loaded or again:
            answer = self._run(["launchctl", "bootstrap", self._domain, str(self.file)])
            if not answer.ok:
                raise ServiceFailed(
                    f"launchctl refused the service: {answer.said or 'no answer'}. It can be installed only "
                    "while you are logged in at the screen, not over ssh alone."
                )
        return changed

    def state(self) -> ServiceState:
        answer = self._run(["launchctl", "print", f"{self._domain}/{LABEL}"])
        installed = self.file.is_file()
        return ServiceState(
            installed=installed,
            current=installed and self.file.read_bytes() == self._content,
            running=answer.ok and "state = running" in answer.said,
            starts="when you log in" if answer.ok else "",
            file=str(self.file),
        )

    def is_wanted(self) -> bool:
        return self.file.is_file()

    def uninstall(self) -> bool:
        if not self.file.is_file():
            return False
        if self._loaded():
            answer = self._run(["launchctl", "bootout", f"{self._domain}/{LABEL}"])
            if not answer.ok:
                raise ServiceFailed(f"launchctl could not stop the service: {answer.said or 'no answer'}")
        self.file.unlink()
        return True

    def log_command(self) -> str:
        return f"tail -n 50 {self._log}"

    def _loaded(self) -> bool:
        return self._run(["launchctl", "print", f"{self._domain}/{LABEL}"]).ok
