"""The notification settings that people change in the page: channels, quiet hours.

Kept in the state folder, in a private file, because addresses and tokens of channels are secrets; or in the
database that several nodes share.
"""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bascule.model.errors import LimitReached, StorageFailed
from bascule.notify.channels import COMMAND_ID, DESKTOP_ID, MAX_CHANNELS, Channel, ChannelNotFound
from bascule.notify.keep import Keep, keep_in
from bascule.notify.quiet_hours import QuietHours

FILE = "notifications.json"
DENY_KEY = "deny.key"
FINISHED_MINUTES = 10


class NotifyChoices(Struct, frozen=True, omit_defaults=True):
    quiet: QuietHours = QuietHours()
    finished_minutes: int = FINISHED_MINUTES  # a turn that took longer is notified; 0: never
    channels: tuple[Channel, ...] = ()


class NotifyBook:
    """`changed` is called after every change. A command and the desktop are there without being added."""

    def __init__(
        self, place: Path | Keep, *, has_command: bool, changed: Callable[[], None] = lambda: None
    ) -> None:
        self._keep = keep_in(place)
        self._has_command = has_command
        self.changed = changed
        self._deny_key = b""
        self.now = self._read()

    @property
    def deny_key(self) -> bytes:
        """Signs tokens to deny a request; made once."""
        if not self._deny_key:
            kept = self._keep.read(DENY_KEY)
            if kept is None:
                kept = os.urandom(32)
                self._keep.write(DENY_KEY, kept)
            if len(kept) != 32:
                raise StorageFailed(f"{DENY_KEY} is not a key; remove it, and another is made.")
            self._deny_key = kept
        return self._deny_key

    def reload(self) -> None:
        """Another node of the hub has changed it."""
        self.now = self._read()
        self.changed()

    def channels(self) -> list[Channel]:
        kept = {channel.id: channel for channel in self.now.channels}
        if self._has_command:
            made = Channel(id=COMMAND_ID, type="command", name="Command")
            kept.setdefault(COMMAND_ID, made)
        else:
            kept.pop(COMMAND_ID, None)
        kept.setdefault(DESKTOP_ID, Channel(id=DESKTOP_ID, type="desktop", name="Desktop", enabled=False))
        return list(kept.values())

    def find(self, channel_id: str) -> Channel:
        for channel in self.channels():
            if channel.id == channel_id:
                return channel
        raise ChannelNotFound("There is no such channel; it may have been removed meanwhile.")

    def set_options(self, quiet: QuietHours, finished_minutes: int) -> None:
        self._write(replace(self.now, quiet=quiet, finished_minutes=finished_minutes))

    def put(self, channel: Channel) -> None:
        others = tuple(one for one in self.now.channels if one.id != channel.id)
        if len(others) >= MAX_CHANNELS:
            raise LimitReached(f"There are at most {MAX_CHANNELS} channels; remove one first.")
        self._write(replace(self.now, channels=(*others, channel)))

    def remove(self, channel_id: str) -> None:
        self._keep_if(lambda one: one.id != channel_id)

    def remove_of_grant(self, grant_id: str) -> list[Channel]:
        """A browser that is no longer trusted gets no more notices."""
        gone = [
            channel
            for channel in self.now.channels
            if channel.type == "push" and channel.grant_id == grant_id
        ]
        self._keep_if(lambda one: one not in gone)
        return gone

    def _keep_if(self, keep: Callable[[Channel], bool]) -> None:
        kept = tuple(channel for channel in self.now.channels if keep(channel))
        if len(kept) < len(self.now.channels):
            self._write(replace(self.now, channels=kept))

    def _read(self) -> NotifyChoices:
        kept = self._keep.read(FILE)
        try:
            return NotifyChoices() if kept is None else msgspec.json.decode(kept, type=NotifyChoices)
        except msgspec.DecodeError as error:
            raise StorageFailed(f"{FILE} can't be read ({error}); correct or remove it.") from error

    def _write(self, settings: NotifyChoices) -> None:
        self._keep.write(FILE, msgspec.json.encode(settings))
        self.now = settings
        self.changed()


def new_id() -> str:
    return secrets.token_hex(6)
