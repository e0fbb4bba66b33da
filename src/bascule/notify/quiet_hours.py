"""Quiet hours: from and to as HH:MM, also over midnight."""

import re

from msgspec import Struct

from bascule.model.errors import InvalidInput

_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


class QuietHours(Struct, frozen=True):
    """Both empty: none. Times are those of the server's own time zone."""

    start: str = ""
    end: str = ""

    def __bool__(self) -> bool:
        return bool(self.start)

    def holds(self, minute: int) -> bool:
        """Whether this minute of the day is one of them."""
        if not self:
            return False
        start, end = _minute(self.start), _minute(self.end)
        return start <= minute < end if start < end else minute >= start or minute < end


def checked(start: str, end: str) -> QuietHours:
    if not start and not end:
        return QuietHours()
    for name, text in (("start", start), ("end", end)):
        if not _TIME.fullmatch(text):
            raise InvalidInput(f"The {name} of the quiet hours is a time such as 22:30, not {text[:20]!r}.")
    if start == end:
        raise InvalidInput("Quiet hours that begin and end at the same time would be none, or all day.")
    return QuietHours(start, end)


def _minute(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)
