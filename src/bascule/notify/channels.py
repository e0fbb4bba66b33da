"""Channels: where notices go, what each of them wants, and how its settings are checked. Pure."""

from typing import get_args
from urllib.parse import urlsplit

from msgspec import Struct

from bascule.model.errors import CallerError, InvalidInput
from bascule.model.notices import DEFAULT_KINDS, ChannelType, WebType
from bascule.notify.notice import Kind, Notice, Place

# These take a message back: the others are written to once.
REPLACING: frozenset[ChannelType] = frozenset(("push", "webhook", "command"))
WEB: frozenset[ChannelType] = frozenset(get_args(WebType))
COMMAND_ID, DESKTOP_ID = "command", "desktop"
MAX_CHANNELS = 50


class ChannelNotFound(CallerError):
    code = "CHANNEL_NOT_FOUND"


class Channel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`grant_id`: whose browser a push subscription is, and who made any other channel."""

    id: str
    type: ChannelType
    name: str
    enabled: bool = True
    kinds: tuple[Kind, ...] = DEFAULT_KINDS
    # Folders, each as MACHINE:/PATH: only what happens in them or below. Empty: everywhere. One without a
    # machine, as earlier versions kept it, is that folder on any of them.
    projects: tuple[str, ...] = ()
    show_commands: bool = False
    grant_id: str = ""
    url: str = ""  # of a webhook; of a push subscription: its endpoint
    secret: str = ""  # signs a webhook; is the token of ntfy, Telegram, Gotify
    chat: str = ""  # of Telegram
    origin: str = ""  # of a push subscription: the address of the page it was made by
    p256dh: str = ""
    auth: str = ""

    def wants(self, notice: Notice) -> bool:
        """What is over is for every channel that shows it, whatever it wants by now."""
        if not self.enabled or (notice.kind not in self.kinds and not notice.settled):
            return False
        return not self.projects or notice.settled or any(self._has(place) for place in notice.places)

    def _has(self, place: Place) -> bool:
        """A session of an older log names no machine."""
        for machine, folder in map(on_machine, self.projects):
            if is_within(place.project, folder) and machine in ("", place.device or machine):
                return True
        return False

    @property
    def host(self) -> str:
        """Who is written to, without anything of the address that may be secret."""
        return urlsplit(self.url).netloc.rpartition("@")[2] if self.url else ""


def on_machine(folder: str) -> tuple[str, str]:
    """The machine and the path of a folder; the machine is empty where none is named."""
    if folder.startswith("/"):
        return "", folder
    machine, _, path = folder.partition(":")
    return machine, path


def folder_on(machine: str, path: str) -> str:
    return f"{machine}:{path}"


def is_within(path: str, folder: str) -> bool:
    folder = folder.rstrip("/") or "/"
    return path == folder or path.startswith(folder if folder == "/" else folder + "/")


def check_web_channel(channel: Channel) -> None:
    """Raises `InvalidInput` that names what is missing or wrong."""
    parts = urlsplit(channel.url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise InvalidInput("The address begins with https:// (or http://) and names a host.")
    if parts.username or parts.password:
        raise InvalidInput("The address may not hold a password; put it into the field for the token.")
    if not channel.url.isascii() or any(letter <= " " for letter in channel.url):
        raise InvalidInput("The address holds a space or a letter that addresses do not have.")
    if channel.type == "ntfy" and not parts.path.strip("/"):
        raise InvalidInput("The address of ntfy ends with a topic, such as https://ntfy.sh/my-topic.")
    if channel.type == "telegram" and not (channel.secret and channel.chat):
        raise InvalidInput("Telegram needs the bot's token and the number or @name of the chat.")
    if channel.type == "gotify" and not channel.secret:
        raise InvalidInput("Gotify needs the token of an application.")
    for text in (channel.secret, channel.chat):
        if not text.isascii() or any(letter <= " " for letter in text):
            raise InvalidInput("A token holds no spaces and only plain letters, digits and signs.")
