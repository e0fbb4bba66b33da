"""SQLite's index of words: FTS5, which keeps no copy of the text and needs the old text again to drop it.

It is given words that it leaves as they are (`store/tokenizer.py`).
"""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from time import monotonic

from bascule.model.errors import LimitReached
from bascule.store.connection import Connection
from bascule.store.tokenizer import Query, joined

TOO_LONG = "This search takes too long; give longer words."
STEPS_BETWEEN_LOOKS = 5000

ADD = "INSERT INTO search_text (rowid, words) VALUES (?, ?)"
DROP = "INSERT INTO search_text (search_text, rowid, words) VALUES ('delete', ?, ?)"
ADD_TITLE = "INSERT INTO search_titles (rowid, words) VALUES (?, ?)"
DROP_TITLE = "INSERT INTO search_titles (search_titles, rowid, words) VALUES ('delete', ?, ?)"
# First below FTS5, which will not even open an index that it finds damaged; then by its own word, because it
# may hold some of it in memory.
FORGET = tuple(
    statement.format(table=table)
    for table in ("search_text", "search_titles")
    for statement in (
        "DELETE FROM {table}_data",
        "DELETE FROM {table}_idx",
        "INSERT INTO {table}_data (id, block) VALUES (1, x''), (10, zeroblob(7))",
        "INSERT INTO {table} ({table}) VALUES ('delete-all')",
    )
)
TEXT = """
SELECT rowid FROM search_text WHERE search_text MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?
"""
TITLES = """
SELECT session_id FROM search_titles JOIN search_sessions ON search_sessions.n = search_titles.rowid
WHERE search_titles MATCH ? AND search_titles.rowid <= ? ORDER BY search_titles.rowid DESC LIMIT ?
"""
FORGET_PROMPT = "DELETE FROM prompt_words WHERE rowid = (SELECT n FROM prompts WHERE id = ?)"
ADD_PROMPT = """
INSERT INTO prompt_words (rowid, words, body) VALUES ((SELECT n FROM prompts WHERE id = ?), ?, ?)
"""
PROMPTS = """
SELECT id, prompt_words.body FROM prompt_words JOIN prompts ON prompts.n = prompt_words.rowid
WHERE prompt_words MATCH ? ORDER BY n DESC
"""
PROMPT_BODY = """
SELECT id, prompt_words.body FROM prompt_words JOIN prompts ON prompts.n = prompt_words.rowid
WHERE prompts.n = ?
"""


def expression(query: Query) -> str:
    """Each phrase is a quoted string of letters and digits, so nothing in it can mean anything."""
    return " ".join(f'"{" ".join(phrase)}"' for phrase in query.phrases) + ("*" if query.begins else "")


class FtsWords:
    """Has no state: everything is in the database."""

    shared = False

    @contextmanager
    def limited(self, connection: Connection, seconds: float) -> Generator[None]:
        assert isinstance(connection, sqlite3.Connection)
        deadline = monotonic() + seconds
        connection.set_progress_handler(lambda: monotonic() > deadline, STEPS_BETWEEN_LOOKS)
        try:
            yield
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                raise LimitReached(TOO_LONG) from None
            raise
        finally:
            connection.set_progress_handler(None, 0)

    def owe_older(self, connection: Connection) -> None:
        """Nothing: no other version writes into this file at the same time."""

    def add(self, connection: Connection, texts: Sequence[tuple[int, str]]) -> None:
        connection.executemany(ADD, [(number, joined(text)) for number, text in texts])

    def drop(self, connection: Connection, number: int, text: str) -> None:
        connection.execute(DROP, (number, joined(text)))

    def add_title(self, connection: Connection, number: int, title: str) -> None:
        connection.execute(ADD_TITLE, (number, joined(title)))

    def drop_title(self, connection: Connection, number: int, title: str) -> None:
        connection.execute(DROP_TITLE, (number, joined(title)))

    def forget_all(self, connection: Connection) -> None:
        for statement in FORGET:
            connection.execute(statement)

    def texts(self, connection: Connection, query: Query, low: int, high: int, limit: int) -> list[int]:
        rows = connection.execute(TEXT, (expression(query), low, high, limit)).fetchall()
        return [number for (number,) in rows]

    def titles(self, connection: Connection, query: Query, highest: int, limit: int) -> list[str]:
        rows = connection.execute(TITLES, (expression(query), highest, limit)).fetchall()
        return [session_id for (session_id,) in rows]

    def set_prompt(self, connection: Connection, prompt_id: str, text: str) -> None:
        connection.execute(FORGET_PROMPT, (prompt_id,))
        connection.execute(ADD_PROMPT, (prompt_id, joined(text), text))

    def prompt_text(self, connection: Connection, number: int) -> tuple[str, str] | None:
        return connection.execute(PROMPT_BODY, (number,)).fetchone()

    def prompts(self, connection: Connection, query: Query) -> list[tuple[str, str]]:
        return connection.execute(PROMPTS, (expression(query),)).fetchall()


FTS = FtsWords()
