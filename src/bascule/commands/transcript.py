"""Prints a session's events in a terminal: text as it arrives, one line per tool."""

from bascule.commands.console import Console, Style
from bascule.model.codec import Logged
from bascule.model.entries import NoEntry
from bascule.model.events import (
    Diff,
    EntryClosed,
    EntryOpened,
    Interrupted,
    Note,
    PermissionAnswered,
    PermissionModeChanged,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PromptQueued,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    QueueHeld,
    ReconnectScheduled,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SessionStarted,
    StderrWritten,
    TextAppended,
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
)
from bascule.policy.visible import sanitize, visible

# No line of any transcript, or no news to the person who runs the command: prompts, requests, reconnecting.
NotShown = (
    NoEntry
    | PromptSent
    | SessionReady
    | ReconnectScheduled
    | PermissionRequested
    | PermissionWithdrawn
    | QuestionAsked
    | QuestionAnswered
    | QuestionWithdrawn
)
MAX_DIFF_LINES = 200
MAX_LINE = 200
_PLAN_MARKS = {"pending": "☐", "in_progress": "▸", "completed": "☑"}
_NOTE_STYLES: dict[str, Style] = {"info": "dim", "warning": "yellow", "error": "red"}


def one_line(text: str, limit: int = MAX_LINE) -> str:
    """Agent text on one line, cut with a mark when it is long."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def named(tool: str, title: str) -> str:
    """A tool with its title, whose first word often is the tool already."""
    return title if title.split(" ", 1)[0] == tool else f"{tool}  {title}"


class Transcript:
    """Prints entries one after another, keeping only the state that the next one needs."""

    def __init__(self, terminal: Console) -> None:
        self._terminal = terminal
        self._speaking = ""
        self._tools: dict[str, str] = {}
        self._denied = ""  # the reason shown last

    def show(self, logged: Logged) -> None:
        terminal = self._terminal
        event = logged.event
        match event:
            case EntryOpened():
                terminal.fresh_line()
                self._speaking = event.entry_id
            case TextAppended():
                self._text(event)
            case EntryClosed():
                terminal.fresh_line()
            case TextSaid():
                self._text(event)
                terminal.fresh_line()
            case ToolStarted():
                self._tools[event.tool_id] = one_line(event.title or event.name)
                indent = "  " if event.parent else ""
                terminal.line(f"{indent}● {named(one_line(event.name, 40), one_line(event.title))}", "cyan")
            case ToolChanged():
                self._tool_changed(event)
            case PlanChanged():
                for item in event.items:
                    terminal.line(f"  {_PLAN_MARKS[item.status]} {one_line(item.text)}")
            case PermissionAnswered():
                verdict = "allowed" if event.decision == "allow" else "denied"
                reason = f": {one_line(event.message)}" if event.message else ""
                self._denied = (event.message or "") if event.decision == "deny" else ""
                rule = f" (rule: {one_line(event.rule)})" if event.rule else ""
                terminal.line(f"  {verdict} by {one_line(event.by)}{reason}{rule}", "dim")
            case SessionStarted():
                words = f"{one_line(event.agent)} in {one_line(event.cwd)}"
                terminal.line(words + (" (demo: no model behind it)" if event.demo else ""), "dim")
            case PromptQueued():
                terminal.line(f"queued: {one_line(event.text)}", "dim")
            case Interrupted():
                terminal.line(f"interrupted by {one_line(event.by)}", "yellow")
            case QueueHeld():
                terminal.line("what was queued is held: bascule sessions queue SESSION", "yellow")
            case TurnEnded():
                self._turn_ended(event)
            case SessionEnded():
                terminal.line(_end_words(event), "dim" if event.reason == "closed" else "red")
            case SessionFailed():
                terminal.line(f"The session failed: {one_line(event.message, 1000)}", "red")
                for line in event.stderr_tail.splitlines()[-20:]:
                    terminal.line(f"  {one_line(line)}", "dim")
            case Note():
                terminal.line(one_line(event.text), _NOTE_STYLES[event.level])
            case PermissionModeChanged():
                terminal.line(f"permission mode: {event.mode} (by {one_line(event.by)})", "yellow")
            case StderrWritten():
                for line in event.text.splitlines():
                    terminal.line(f"  {one_line(line)}", "dim")
            case Unrecognised():
                terminal.line(f"  not understood: {one_line(event.raw)}", "dim")
            case _:
                _: NotShown = event  # a new type of event has to be named there, or above

    def _text(self, event: TextAppended | TextSaid) -> None:
        if event.entry_id != self._speaking:
            self._terminal.fresh_line()
            self._speaking = event.entry_id
        self._terminal.write(sanitize(event.text), "dim" if event.kind == "thinking" else "plain")

    def _tool_changed(self, event: ToolChanged) -> None:
        for diff in event.diffs:
            self._diff(diff)
        if event.status == "denied" and self._denied and event.output == self._denied:
            return  # said a moment ago, when it was denied
        if event.status in ("failed", "denied"):
            name = self._tools.get(event.tool_id, "tool")
            detail = f": {one_line(event.output)}" if event.output else ""
            self._terminal.line(f"  {event.status}: {name}{detail}", "red")

    def _diff(self, diff: Diff) -> None:
        terminal = self._terminal
        terminal.line(f"  {one_line(diff.path)}  +{diff.added} -{diff.removed}", "bold")
        lines = diff.patch.splitlines()
        for line in lines[:MAX_DIFF_LINES]:
            terminal.line("  " + visible(line), diff_style(line))
        if len(lines) > MAX_DIFF_LINES:
            terminal.line(f"  … {len(lines) - MAX_DIFF_LINES} more lines; the page shows them all", "dim")

    def _turn_ended(self, event: TurnEnded) -> None:
        if event.stop_reason == "end_turn":
            self._terminal.fresh_line()
            return
        detail = f": {one_line(event.message, 1000)}" if event.message else ""
        style: Style = "yellow" if event.stop_reason == "interrupted" else "red"
        self._terminal.line(f"The turn ended ({event.stop_reason}){detail}", style)


def diff_style(line: str) -> Style:
    return "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"


def _end_words(event: SessionEnded) -> str:
    if event.reason in ("closed", "killed"):  # a person ended it: how the process took it says nothing
        return f"The session was {event.reason}."
    if event.reason == "user_terminated":
        return "The session was ended on its machine, from the notification of its start."
    how = f"signal {event.signal}" if event.signal is not None else f"status {event.code}"
    why = f": {one_line(event.message)}" if event.message else ""
    return f"The session ended ({event.reason}, {how}){why}"
