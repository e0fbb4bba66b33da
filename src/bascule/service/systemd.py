"""Bascule as a service of the user under systemd; with lingering it starts with the machine."""

import getpass
from collections.abc import Mapping, Sequence
from pathlib import Path

from bascule.service.programs import Ran, Run
from bascule.service.unit_files import OUR_LINGER, UNIT, unit_text
from bascule.service.user_service import ServiceFailed, ServiceState, write_if_changed


class SystemdService:
    """`config` is the folder that systemd reads below: `$XDG_CONFIG_HOME`, or `~/.config`."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], config: Path, run: Run, user: str = ""
    ) -> None:
        self._argv, self._environment, self._run = argv, environment, run
        self.file = config / "systemd" / "user" / UNIT
        self._user = user or getpass.getuser()

    def install(self, *, restart: bool = False) -> bool:
        self._check_manager()
        if self._lingers():
            ours = self._has_our_linger()
        else:
            self._run(["loginctl", "enable-linger", self._user])  # it may need more rights than we have
            ours = self._lingers()
        changed = write_if_changed(self.file, self._text(our_linger=ours).encode())
        if changed:
            self._must("daemon-reload")
        self._must("enable", UNIT)
        # A start of what runs does nothing; what is new is only used after a restart.
        self._must("restart" if changed or restart else "start", UNIT)
        return changed

    def state(self) -> ServiceState:
        installed = self.file.is_file()
        enabled = self._systemctl("is-enabled", UNIT).ok
        starts, advice = "", ""
        if enabled and self._lingers():
            starts = "with the machine"
        elif enabled:
            starts = "when you log in"
            advice = f"To start it with the machine: sudo loginctl enable-linger {self._user}"
        return ServiceState(
            installed=installed,
            current=installed and self.file.read_text() == self._text(our_linger=self._has_our_linger()),
            running=self._systemctl("is-active", UNIT).ok,
            starts=starts,
            advice=advice,
            file=str(self.file),
        )

    def is_wanted(self) -> bool:
        return any(self.file.parent.glob(f"*.wants/{UNIT}"))

    def uninstall(self) -> bool:
        if not self.file.is_file():
            return False
        self._check_manager()
        ours = self._has_our_linger()
        self._must("disable", "--now", UNIT)
        self.file.unlink()
        self._must("daemon-reload")
        self._systemctl("reset-failed", UNIT)
        if ours:
            self._run(["loginctl", "disable-linger", self._user])
        return True

    def log_command(self) -> str:
        return f"journalctl --user -u {UNIT} -n 50"

    def _text(self, *, our_linger: bool) -> str:
        return unit_text(self._argv, self._environment, our_linger=our_linger)

    def _has_our_linger(self) -> bool:
        return self.file.is_file() and self.file.read_text().startswith(OUR_LINGER)

    def _lingers(self) -> bool:
        answer = self._run(["loginctl", "show-user", self._user, "--property=Linger"])
        return answer.ok and answer.said == "Linger=yes"

    def _check_manager(self) -> None:
        """Before anything is written: without the user's own systemd nothing would start it."""
        answer = self._systemctl("show-environment")
        if not answer.ok:
            raise ServiceFailed(
                f"This user's systemd can't be reached ({answer.said or 'no answer'}). Log in as the user "
                "itself rather than with su or sudo; where there is no systemd, start `bascule` from your "
                "session's own autostart."
            )

    def _systemctl(self, *words: str) -> Ran:
        return self._run(["systemctl", "--user", *words])

    def _must(self, *words: str) -> None:
        answer = self._systemctl(*words)
        if not answer.ok:
            raise ServiceFailed(f"systemctl --user {' '.join(words)} failed: {answer.said or 'no answer'}")
