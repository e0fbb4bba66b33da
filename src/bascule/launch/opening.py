"""Opens a terminal that runs the launcher: writes the prompt and the plan, and starts the terminal."""

import secrets
import time
from collections.abc import Mapping

from bascule.launch import macos
from bascule.launch.choosing import Ask, Terminal, choose
from bascule.launch.desktop_session import session_environment
from bascule.launch.errors import LaunchError
from bascule.launch.plan import Plan, encode_plan, launcher_argv
from bascule.launch.planning import Job
from bascule.launch.private_folder import LaunchFolder, new_stem
from bascule.launch.record import LaunchRecord
from bascule.launch.request import LaunchRequest
from bascule.launch.terminal_process import TerminalProcess
from bascule.launch.terminals import terminal_argv
from bascule.model.codec import timestamp


class TerminalOpener:
    """Blocks while it looks, asks and writes: to be used in a thread."""

    def __init__(self, setting: str, environ: Mapping[str, str], platform: str, ask: Ask) -> None:
        self._setting, self._environ, self._platform, self._ask = setting, environ, platform, ask

    def choose(self) -> tuple[Terminal, dict[str, str]]:
        """The terminal to open, and the environment it gets. Raises `no_terminal_found`."""
        if self._platform == "darwin":
            return macos.choose_application(self._setting, self._environ), dict(self._environ)
        environment = session_environment(self._environ, ask=self._ask)
        return choose(self._setting, environment, ask=self._ask), environment

    def open(
        self,
        terminal: Terminal,
        environment: dict[str, str],
        folder: LaunchFolder,
        plan: Plan,
        request: LaunchRequest | None,
    ) -> TerminalProcess:
        """Whatever fails leaves no file behind."""
        prompt, plan_name, command = _names(plan["stem"])
        opening = self._opening(terminal, launcher_argv(str(folder.path / plan_name)), folder, command)
        if opening.command_file:
            plan["also_remove"] = command
        try:
            if request is not None:
                folder.write(prompt, request.prompt.encode())
            folder.write(plan_name, encode_plan(plan))
            if opening.command_file:
                folder.write(command, opening.command_file.encode(), mode=0o700)
            return TerminalProcess(opening.argv, environment, folder.path, opening.stdin)
        except LaunchError:
            for name in (prompt, plan_name, command):
                folder.remove(name)
            raise

    def _opening(
        self, terminal: Terminal, argv: list[str], folder: LaunchFolder, command: str
    ) -> macos.Opening:
        if self._platform == "darwin":
            return macos.opening(terminal.name, argv, str(folder.path / command))
        return macos.Opening(terminal_argv(terminal.program, list(terminal.options), argv))


def new_record(job: Job, terminal: Terminal) -> LaunchRecord:
    stem = new_stem()
    return LaunchRecord(
        id=secrets.token_urlsafe(16),
        stem=stem,
        who=job.who,
        at=timestamp(time.time()),
        agent=job.start.agent,
        mode=job.mode,
        terminal=terminal.name,
        rule=terminal.rule,
        temp_file=_names(stem)[0] if job.request is not None else "",
    )


def files_of(record: LaunchRecord) -> tuple[str, str, str]:
    """Names in the launch folder, of which some may exist."""
    return _names(record.stem)


def _names(stem: str) -> tuple[str, str, str]:
    return f"prompt-{stem}.txt", f"plan-{stem}.json", f"window-{stem}.command"
