"""Matches a plain-text agent's output: it waits, it read a probe, the model failed."""

import codecs
import re

from bascule.drivers.base import Cue, DriverLaunch
from bascule.drivers.plain.state import Probing

MAX_CUE = 1000

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|\r")


def readable(printed: str) -> str:
    """Remove colours and other terminal sequences."""
    return _ESCAPES.sub("", printed)


def decoded(data: bytes) -> str:
    return codecs.decode(data, "utf-8", "replace")


class Cues:
    def __init__(self, launch: DriverLaunch) -> None:
        self.probe = launch.probe
        self._cues = [(re.compile(cue.pattern), cue) for cue in launch.cues]
        self._prompts = re.compile(f"(?:{launch.probe.prompt})+") if launch.probe is not None else None
        failure = launch.failure
        self._failure = re.compile(failure.pattern) if failure is not None else None
        self._unless = re.compile(failure.unless) if failure is not None and failure.unless else None

    def waiting(self, shown: str) -> Cue | None:
        """The cue that matches the end of the output."""
        shown = shown[-MAX_CUE:]
        for pattern, cue in self._cues:
            found = pattern.search(shown)
            if found is not None and found.end() == len(shown):
                return cue
        return None

    def is_prompt(self, line: str) -> bool:
        """Whether a line is only the agent's prompt, which it prints once for each line it reads."""
        return self._prompts is not None and self._prompts.fullmatch(line) is not None

    def read_as_prompt(self, line: str, probing: Probing) -> bool:
        """Whether the line shows that the agent read the probe as a prompt."""
        expected = self.probe.ready.replace("{nonce}", probing.nonce) if self.probe is not None else ""
        return bool(probing.nonce) and line.strip() == expected

    def read_as_answer(self, line: str, probing: Probing) -> str:
        """The question that read the probe as its answer, if the line shows that."""
        if self.probe is None or not probing.nonce:
            return ""
        question, found, _ = line.partition(self.probe.asked)
        cue = self.waiting(question) if found else None
        return question if cue is not None and cue.kind != "ready" else ""

    def failed(self, line: str, known: str) -> str:
        """The failure after this line: this one, the known one, or none because it went on."""
        if self._failure is not None and self._failure.match(line):
            return line
        return "" if self._unless is not None and self._unless.match(line) else known
