"""Decides how the prompt is handed over, and writes down for the launcher what it has to do. Pure."""

from msgspec import Struct

from bascule.launch.agent_start import AgentStart
from bascule.launch.errors import LaunchError
from bascule.launch.handing_over import fits_argument, may_be_sent, untypable
from bascule.launch.plan import Plan
from bascule.launch.record import LaunchRecord
from bascule.launch.request import LaunchRequest


class Job(Struct, frozen=True, kw_only=True):
    """What is to run in the terminal; without a request, an earlier conversation goes on."""

    start: AgentStart
    cwd: str
    request: LaunchRequest | None
    words: tuple[str, ...]  # that give the prompt as an argument; none when it is typed
    who: str

    @property
    def mode(self) -> str | None:
        prefills = self.request is not None and self.request.mode == "prefill"
        return "prefill" if prefills else self.start.mode


def prompt_words(start: AgentStart, request: LaunchRequest | None, *, typed: bool) -> tuple[str, ...]:
    """The words that give the prompt as an argument; none when it has to be typed, which must be possible."""
    if request is None:
        return ()
    if request.mode != "prefill" and not typed and fits_argument(request.prompt, start.prompt_words):
        return start.prompt_words
    character = untypable(request.prompt)
    if character is not None:
        message = (
            f"This prompt has to be typed, and it holds the control character U+{ord(character):04X}, "
            "which can't be typed as text."
        )
        raise LaunchError("invalid_prompt", message)
    size = len(request.prompt.encode())
    if start.largest_paste and size > start.largest_paste:
        message = (
            f"{start.title} loses a prompt of {size:,} bytes that is typed into its terminal; up to "
            f"{start.largest_paste:,} arrive. Put it into a file and name that, or start a session instead."
        )
        raise LaunchError("prompt_too_large", message, length=size, limit=start.largest_paste)
    return ()


def plan_of(record: LaunchRecord, job: Job, report_to: str) -> Plan:
    start, request = job.start, job.request
    trust = start.trust
    return Plan(
        id=record.id,
        stem=record.stem,
        title=start.title,
        argv=list(start.argv),
        prompt_words=list(job.words),
        prompt_file=record.temp_file,
        send=request is not None and request.mode != "prefill" and may_be_sent(request.prompt),
        input_mark=start.input_mark,
        cwd=job.cwd,
        environment=start.environment,
        defaults=start.defaults,
        trust={"text": trust.text, "accept": trust.accept, "marker": trust.marker} if trust else None,
        missing=start.missing,
        install=start.install,
        report_to=report_to,
        also_remove="",
    )
