"""SQLite's index of words: FTS5, which keeps no copy of the text and needs the old text again to drop it."""

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from time import monotonic

from bascule.model.errors import LimitReached
from bascule.store.connection import Connection

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
ADD_PROMPT = "INSERT INTO prompt_words (rowid, words) VALUES ((SELECT n FROM prompts WHERE id = ?), ?)"
PROMPTS = """
SELECT id, snippet(prompt_words, 0, char(1), char(1), '…', 24) FROM prompt_words
JOIN prompts ON prompts.n = prompt_words.rowid WHERE prompt_words MATCH ? ORDER BY rank LIMIT ?
"""


def expression(terms: list[str]) -> str:
    """Each term becomes one quoted string, so no sign in it can mean anything."""
    quoted = ['"' + term.replace('"', '""') + '"' for term in terms]
    # People search while they type: the last word may be half there. One letter would match everything.
    return " ".join(quoted) + ("*" if len(terms[-1]) > 1 else "")


class FtsWords:
    """Has no state: everything is in the database."""

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

    def add(self, connection: Connection, texts: Sequence[tuple[int, str]]) -> None:
        connection.executemany(ADD, texts)

    def drop(self, connection: Connection, number: int, text: str) -> None:
        connection.execute(DROP, (number, text))

    def add_title(self, connection: Connection, number: int, title: str) -> None:
        connection.execute(ADD_TITLE, (number, title))

    def drop_title(self, connection: Connection, number: int, title: str) -> None:
        connection.execute(DROP_TITLE, (number, title))

    def forget_all(self, connection: Connection) -> None:
        for statement in FORGET:
            connection.execute(statement)

    def texts(self, connection: Connection, terms: list[str], low: int, high: int, limit: int) -> list[int]:
        rows = connection.execute(TEXT, (expression(terms), low, high, limit)).fetchall()
        return [number for (number,) in rows]

    def titles(self, connection: Connection, terms: list[str], highest: int, limit: int) -> list[str]:
        rows = connection.execute(TITLES, (expression(terms), highest, limit)).fetchall()
        return [session_id for (session_id,) in rows]

    def set_prompt(self, connection: Connection, prompt_id: str, text: str) -> None:
        connection.execute(FORGET_PROMPT, (prompt_id,))
        connection.execute(ADD_PROMPT, (prompt_id, text))

    def prompts(self, connection: Connection, terms: list[str], limit: int) -> dict[str, list[str]]:
        rows = connection.execute(PROMPTS, (expression(terms), limit))
        return {prompt_id: around.split("\x01") for prompt_id, around in rows}


FTS = FtsWords()
