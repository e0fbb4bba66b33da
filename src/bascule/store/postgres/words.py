"""PostgreSQL's index of words: vectors of words, and those words in a row for phrases."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from bascule.model.errors import LimitReached
from bascule.store.connection import Connection
from bascule.store.fts_words import TOO_LONG
from bascule.store.postgres.asyncpg_module import asyncpg
from bascule.store.tokenizer import VERSION, Query, joined, sought

VECTOR = "CAST(CAST(? AS text) AS tsvector)"
QUERY = "CAST(CAST(? AS text) AS tsquery)"
ADD = f"""
INSERT INTO search_text (n, words, said) VALUES (?, {VECTOR}, ?)
ON CONFLICT (n) DO UPDATE SET words = excluded.words, said = excluded.said
"""
DROP = "DELETE FROM search_text WHERE n = ?"
ADD_TITLE = f"""
INSERT INTO search_titles (n, words, said) VALUES (?, {VECTOR}, ?)
ON CONFLICT (n) DO UPDATE SET words = excluded.words, said = excluded.said
"""
DROP_TITLE = "DELETE FROM search_titles WHERE n = ?"
FORGET = ("DELETE FROM search_text", "DELETE FROM search_titles")
OWE_OLDER = (
    """
INSERT OR IGNORE INTO search_owed
SELECT session_id, search_text.n & 4294967295 FROM search_text
JOIN search_sessions ON search_sessions.n = search_text.n >> 32 WHERE said = ''
""",
    """
INSERT OR IGNORE INTO search_owed
SELECT session_id, 0 FROM search_titles JOIN search_sessions USING (n) WHERE said = ''
""",
    "UPDATE search_sessions SET title = '' WHERE n IN (SELECT n FROM search_titles WHERE said = '')",
    f"""
INSERT OR IGNORE INTO search_owed
SELECT '', n FROM prompts JOIN prompt_words USING (id) WHERE tokenizer < {VERSION}
""",
)
TEXTS = f"""
SELECT n FROM search_text WHERE words @@ {QUERY} AND n BETWEEN ? AND ?{{phrases}} ORDER BY n DESC LIMIT ?
"""
TITLES = f"""
SELECT session_id FROM search_titles JOIN search_sessions USING (n)
WHERE words @@ {QUERY} AND n <= ?{{phrases}} ORDER BY n DESC LIMIT ?
"""
SET_PROMPT = f"""
INSERT INTO prompt_words (id, body, words, tokenizer) VALUES (?, ?, {VECTOR}, {VERSION})
ON CONFLICT (id) DO UPDATE SET body = excluded.body, words = excluded.words, tokenizer = excluded.tokenizer
"""
PROMPT_BODY = "SELECT id, prompt_words.body FROM prompt_words JOIN prompts USING (id) WHERE n = ?"
PROMPTS = f"""
SELECT id, prompt_words.body FROM prompt_words JOIN prompts USING (id)
WHERE words @@ {QUERY} ORDER BY n DESC
"""
HAS_PHRASE = " AND strpos(said, ?) > 0"


def vector_of(words: str) -> tuple[str, str]:
    """Words as PostgreSQL writes a `tsvector`, which is the same; and as they stand in the text."""
    return words, f" {words} "


def expression(query: Query) -> str:
    """All words. They hold no sign that could mean anything."""
    words = [word for phrase in query.phrases for word in phrase]
    return " & ".join(words) + (":*" if query.begins else "")


def phrases(query: Query) -> list[str]:
    """What the vector does not know: which words stand side by side."""
    return [part for part, phrase in zip(sought(query), query.phrases, strict=True) if len(phrase) > 1]


def has_all(text: str, side_by_side: list[str]) -> bool:
    words = f" {joined(text)} "
    return all(part in words for part in side_by_side)


class PostgresWords:
    """Has no state: everything is in the database."""

    shared = True

    @contextmanager
    def limited(self, connection: Connection, seconds: float) -> Generator[None]:
        connection.execute(f"SET LOCAL statement_timeout = {max(1, int(seconds * 1000))}")
        try:
            yield
        except asyncpg.QueryCanceledError:
            raise LimitReached(TOO_LONG) from None

    def owe_older(self, connection: Connection) -> None:
        for statement in OWE_OLDER:
            connection.execute(statement)

    def add(self, connection: Connection, texts: Sequence[tuple[int, str]]) -> None:
        if texts:
            connection.executemany(ADD, [(number, *vector_of(joined(text))) for number, text in texts])

    def drop(self, connection: Connection, number: int, text: str) -> None:
        connection.execute(DROP, (number,))

    def add_title(self, connection: Connection, number: int, title: str) -> None:
        connection.execute(ADD_TITLE, (number, *vector_of(joined(title))))

    def drop_title(self, connection: Connection, number: int, title: str) -> None:
        connection.execute(DROP_TITLE, (number,))

    def forget_all(self, connection: Connection) -> None:
        for statement in FORGET:
            connection.execute(statement)

    def texts(self, connection: Connection, query: Query, low: int, high: int, limit: int) -> list[int]:
        side_by_side = phrases(query)
        statement = TEXTS.format(phrases=HAS_PHRASE * len(side_by_side))
        rows = connection.execute(statement, (expression(query), low, high, *side_by_side, limit))
        return [number for (number,) in rows]

    def titles(self, connection: Connection, query: Query, highest: int, limit: int) -> list[str]:
        side_by_side = phrases(query)
        statement = TITLES.format(phrases=HAS_PHRASE * len(side_by_side))
        rows = connection.execute(statement, (expression(query), highest, *side_by_side, limit))
        return [session_id for (session_id,) in rows]

    def set_prompt(self, connection: Connection, prompt_id: str, text: str) -> None:
        connection.execute(SET_PROMPT, (prompt_id, text, joined(text)))

    def prompt_text(self, connection: Connection, number: int) -> tuple[str, str] | None:
        return connection.execute(PROMPT_BODY, (number,)).fetchone()

    def prompts(self, connection: Connection, query: Query) -> list[tuple[str, str]]:
        rows, side_by_side = connection.execute(PROMPTS, (expression(query),)).fetchall(), phrases(query)
        return [row for row in rows if not side_by_side or has_all(row[1], side_by_side)]
