"""PostgreSQL's index of words: vectors that are made here, so that both databases find the same."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from bascule.model.errors import LimitReached
from bascule.store.connection import Connection
from bascule.store.fts_words import TOO_LONG
from bascule.store.postgres.asyncpg_module import asyncpg
from bascule.store.postgres.tokens import query_of, vector_of
from bascule.store.search import snippet

VECTOR = "CAST(CAST(? AS text) AS tsvector)"
QUERY = "CAST(CAST(? AS text) AS tsquery)"
ADD = f"""
INSERT INTO search_text (n, words) VALUES (?, {VECTOR}) ON CONFLICT (n) DO UPDATE SET words = excluded.words
"""
DROP = "DELETE FROM search_text WHERE n = ?"
ADD_TITLE = f"""
INSERT INTO search_titles (n, words) VALUES (?, {VECTOR}) ON CONFLICT (n) DO UPDATE SET words = excluded.words
"""
DROP_TITLE = "DELETE FROM search_titles WHERE n = ?"
FORGET = ("DELETE FROM search_text", "DELETE FROM search_titles")
TEXTS = f"SELECT n FROM search_text WHERE words @@ {QUERY} AND n BETWEEN ? AND ? ORDER BY n DESC LIMIT ?"
TITLES = f"""
SELECT session_id FROM search_titles JOIN search_sessions USING (n)
WHERE words @@ {QUERY} AND n <= ? ORDER BY n DESC LIMIT ?
"""
SET_PROMPT = f"""
INSERT INTO prompt_words (id, body, words) VALUES (?, ?, {VECTOR})
ON CONFLICT (id) DO UPDATE SET body = excluded.body, words = excluded.words
"""
PROMPTS = f"""
SELECT id, body FROM prompt_words WHERE words @@ {QUERY} ORDER BY ts_rank_cd(words, {QUERY}) DESC, id LIMIT ?
"""


class PostgresWords:
    """Has no state: everything is in the database."""

    @contextmanager
    def limited(self, connection: Connection, seconds: float) -> Generator[None]:
        connection.execute(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
        try:
            yield
        except asyncpg.QueryCanceledError:
            raise LimitReached(TOO_LONG) from None

    def add(self, connection: Connection, texts: Sequence[tuple[int, str]]) -> None:
        if texts:
            connection.executemany(ADD, [(number, vector_of(text)) for number, text in texts])

    def drop(self, connection: Connection, number: int, text: str) -> None:
        connection.execute(DROP, (number,))

    def add_title(self, connection: Connection, number: int, title: str) -> None:
        connection.execute(ADD_TITLE, (number, vector_of(title)))

    def drop_title(self, connection: Connection, number: int, title: str) -> None:
        connection.execute(DROP_TITLE, (number,))

    def forget_all(self, connection: Connection) -> None:
        for statement in FORGET:
            connection.execute(statement)

    def texts(self, connection: Connection, terms: list[str], low: int, high: int, limit: int) -> list[int]:
        query = query_of(terms)
        rows = connection.execute(TEXTS, (query, low, high, limit)) if query else ()
        return [number for (number,) in rows]

    def titles(self, connection: Connection, terms: list[str], highest: int, limit: int) -> list[str]:
        query = query_of(terms)
        rows = connection.execute(TITLES, (query, highest, limit)) if query else ()
        return [session_id for (session_id,) in rows]

    def set_prompt(self, connection: Connection, prompt_id: str, text: str) -> None:
        connection.execute(SET_PROMPT, (prompt_id, text, vector_of(text)))

    def prompts(self, connection: Connection, terms: list[str], limit: int) -> dict[str, list[str]]:
        query = query_of(terms)
        rows = connection.execute(PROMPTS, (query, query, limit)) if query else ()
        return {prompt_id: list(snippet(body, terms)) for prompt_id, body in rows}
