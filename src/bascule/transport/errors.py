"""Errors of the connection to the keeper."""

from bascule.model.errors import HostError


class KeeperError(Exception):
    """The keeper refused a request; `code` is one of its words, such as `exists` or `stdin_closed`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message


class KeeperGone(Exception):
    """The connection is lost: what was asked may or may not have been done; ask again by the same id."""


class KeeperNotStarted(HostError):
    """No keeper runs and none could be started; the message ends with its log's last lines."""

    code = "KEEPER_NOT_STARTED"


class SpoolTrimmed(Exception):
    """The bytes at this offset were committed and deleted before; the reader asked for the past."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"offset {offset} is no longer in the spool")
        self.offset = offset
