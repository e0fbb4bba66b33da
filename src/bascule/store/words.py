"""The index of words: texts and titles under a number, found by the words they hold."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from bascule.store.connection import Connection
from bascule.store.fts_words import FTS
from bascule.store.tokenizer import Query


class Words(Protocol):
    """Texts are numbered by `search_index.row_id`, titles by their session's number; higher is newer."""

    @property
    def shared(self) -> bool:
        """Whether other servers fill it too, perhaps of other versions. What is added again then replaces."""
        ...

    def limited(self, connection: Connection, seconds: float) -> AbstractContextManager[None]:
        """A search inside that takes longer ends with `LimitReached`."""
        ...

    def owe_older(self, connection: Connection) -> None:
        """Owe what another version has put in beside this one."""
        ...

    def add(self, connection: Connection, texts: Sequence[tuple[int, str]]) -> None: ...

    def drop(self, connection: Connection, number: int, text: str) -> None:
        """`text` is the one that was added."""
        ...

    def add_title(self, connection: Connection, number: int, title: str) -> None: ...

    def drop_title(self, connection: Connection, number: int, title: str) -> None: ...

    def forget_all(self, connection: Connection) -> None:
        """Empty the index, however damaged it is."""
        ...

    def texts(self, connection: Connection, query: Query, low: int, high: int, limit: int) -> list[int]:
        """Numbers of the texts with all that is looked for; the highest first."""
        ...

    def titles(self, connection: Connection, query: Query, highest: int, limit: int) -> list[str]:
        """The same of titles with numbers up to `highest`: their sessions."""
        ...

    def set_prompt(self, connection: Connection, prompt_id: str, text: str) -> None: ...

    def prompt_text(self, connection: Connection, number: int) -> tuple[str, str] | None:
        """The id and the text of a saved prompt, by its number."""
        ...

    def prompts(self, connection: Connection, query: Query) -> list[tuple[str, str]]:
        """Ids and texts of the saved prompts with all that is looked for, the newest first."""
        ...


def words_of(connection: Connection) -> Words:
    """The index of this connection's database; SQLite's own connections do not name theirs."""
    return getattr(connection, "words", FTS)
