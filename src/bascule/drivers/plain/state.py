"""What the driver must remember between two lines, small enough to be stored with every commit."""

from msgspec import Struct

from bascule.drivers.base import DriverLaunch
from bascule.model.events import PromptSent

MAX_HELD_BACK = 50  # lines that are text only if others follow
MAX_TURN_TEXT = 16 * 1024  # of what was printed in this turn: where the subject of a question is looked for
MAX_FAILURE = 4096


class Probing(Struct, frozen=True, omit_defaults=True):
    """A line was typed that only tells us who reads it."""

    nonce: str = ""  # of the probe that nobody has read yet
    question: str = ""  # that read it: the same is asked once more, and then waits


class PlainState(Struct, omit_defaults=True):
    launch: DriverLaunch = DriverLaunch()
    ready: bool = False  # it has been ready once
    turning: bool = False
    opened: bool = False  # an entry is open
    entries: int = 0
    asked: int = 0
    written: int = 0  # counts writes of our own making, for their ids
    open_request: str | None = None
    asks_in_words: bool = False  # it is a question, not a permission
    held: list[PromptSent] = []
    probing: Probing = Probing()
    prompting: bool = False  # it is ready: what it prints belongs to its prompt, until that line ends
    held_back: list[str] = []  # blank lines and prompts
    turn_text: str = ""  # the end of what was printed in this turn, as it was printed
    clipped: bool = False  # there was more before it
    since: int = 0  # where in it the last question stood
    failure: str = ""  # the line in which it told that the model failed, unless it went on after that

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
