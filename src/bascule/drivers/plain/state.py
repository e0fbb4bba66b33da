"""The plain-text driver's stored state, written with every commit. Field names must not change."""

from msgspec import Struct

from bascule.drivers.base import DriverLaunch
from bascule.model.events import PromptSent

MAX_HELD_BACK = 50  # lines that count as text only if other text follows
MAX_TURN_TEXT = 16 * 1024  # characters of this turn's output, searched for a question's subject
MAX_FAILURE = 4096


class Probing(Struct, frozen=True, omit_defaults=True):
    """The probe that was sent, and what is known of who read it."""

    nonce: str = ""  # of a probe that was not read yet
    question: str = ""  # the question that read it, which is asked again


class PlainState(Struct, omit_defaults=True):
    launch: DriverLaunch = DriverLaunch()
    ready: bool = False  # it has been ready once
    turning: bool = False
    opened: bool = False  # an entry is open
    entries: int = 0
    asked: int = 0
    written: int = 0  # counts writes of our own making, for their ids
    open_request: str | None = None
    asks_in_words: bool = False  # the open request is a question, not a permission
    held: list[PromptSent] = []
    probing: Probing = Probing()
    prompting: bool = False  # ready: output belongs to the agent's prompt until the line ends
    held_back: list[str] = []  # blank lines and prompts
    turn_text: str = ""  # the end of this turn's raw output
    clipped: bool = False  # `turn_text` is not all of it
    since: int = 0  # position of the last question in `turn_text`
    failure: str = ""  # the line that reported a failure of the model, unless it went on afterwards

    def new_write(self, what: str) -> str:
        self.written += 1
        return f"{what}:{self.launch.run}:{self.written}"

    def remember_text(self, printed: str) -> None:
        whole = self.turn_text + printed
        cut = max(0, len(whole) - MAX_TURN_TEXT)
        self.turn_text = whole[cut:]
        self.clipped = self.clipped or cut > 0
        self.since = max(0, self.since - cut)

    def forget_text(self) -> None:
        self.turn_text, self.clipped, self.since = "", False, 0
