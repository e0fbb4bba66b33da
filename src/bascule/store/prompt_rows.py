"""Rows of the prompt library: its SQL, and each row with its checksum."""

from typing import Any

import msgspec

from bascule.model.codec import encode
from bascule.model.errors import CallerError, StoreDamaged
from bascule.model.prompts import PromptContent, PromptUse, PromptVersion, SavedPrompt
from bascule.store.connection import Connection
from bascule.store.rows import check, checksum
from bascule.store.search import asked, snippet
from bascule.store.tokenizer import words_in
from bascule.store.words import words_of

ALL = "SELECT id, body, crc FROM prompts ORDER BY n DESC"
ONE = "SELECT id, body, crc FROM prompts WHERE id = ?"
BY_KEY = "SELECT id, body, crc FROM prompts WHERE key = ?"
COUNT = "SELECT count(*) FROM prompts"
INSERT = "INSERT INTO prompts (id, key, body, crc) VALUES (?, ?, ?, ?)"
CHANGE = "UPDATE prompts SET body = ?, crc = ? WHERE id = ?"
ADD_VERSION = """
INSERT INTO prompt_versions (prompt_id, version, title, at, by, body, crc) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
CONTENT = "SELECT body, crc FROM prompt_versions WHERE prompt_id = ? AND version = ?"
VERSIONS = "SELECT version, title, at, by FROM prompt_versions WHERE prompt_id = ? ORDER BY version DESC"
DROP_VERSIONS = "DELETE FROM prompt_versions WHERE prompt_id = ? AND version <= ?"
DROP_VERSION = "DELETE FROM prompt_versions WHERE prompt_id = ? AND version = ?"
ADD_USE = "INSERT INTO prompt_uses (prompt_id, version, kind, session_id, at, by) VALUES (?, ?, ?, ?, ?, ?)"
USES = """
SELECT version, kind, session_id, at, by FROM prompt_uses WHERE prompt_id = ? ORDER BY n DESC LIMIT ?
"""
TRIM_USES = """
DELETE FROM prompt_uses WHERE prompt_id = ? AND n <=
(SELECT n FROM prompt_uses WHERE prompt_id = ? ORDER BY n DESC LIMIT 1 OFFSET ?)
"""

_head = msgspec.json.Decoder(SavedPrompt)
_content = msgspec.json.Decoder(PromptContent)


class SavedPromptNotFound(CallerError):
    code = "SAVED_PROMPT_NOT_FOUND"


def all_heads(connection: Connection) -> tuple[list[SavedPrompt], list[StoreDamaged]]:
    """The newest first, removed ones too."""
    sound: list[SavedPrompt] = []
    damaged: list[StoreDamaged] = []
    for values in connection.execute(ALL):
        try:
            sound.append(_decoded(*values))
        except StoreDamaged as damage:
            damaged.append(damage)
    return sound, damaged


def head_of(connection: Connection, prompt_id: str) -> SavedPrompt:
    """Raises `SavedPromptNotFound`."""
    values = connection.execute(ONE, (prompt_id,)).fetchone()
    if values is None:
        raise SavedPromptNotFound("There is no such prompt in the library.")
    return _decoded(*values)


def head_with_key(connection: Connection, key: str) -> SavedPrompt | None:
    values = connection.execute(BY_KEY, (key,)).fetchone()
    return None if values is None else _decoded(*values)


def content_of(connection: Connection, prompt_id: str, version: int) -> PromptContent:
    """Raises `SavedPromptNotFound`."""
    values = connection.execute(CONTENT, (prompt_id, version)).fetchone()
    if values is None:
        raise SavedPromptNotFound(f"This prompt has no version {version}.")
    return _content.decode(check(_name(prompt_id), version, values[0], values[1], "record"))


def insert_head(connection: Connection, prompt: SavedPrompt, key: str | None) -> None:
    body = encode(prompt)
    connection.execute(INSERT, (prompt.id, key, body, checksum(_name(prompt.id), 0, body)))


def change_head(connection: Connection, prompt: SavedPrompt) -> None:
    body = encode(prompt)
    connection.execute(CHANGE, (body, checksum(_name(prompt.id), 0, body), prompt.id))


def add_version(connection: Connection, prompt: SavedPrompt, content: PromptContent) -> None:
    body = encode(content)
    crc = checksum(_name(prompt.id), prompt.version, body)
    values = (prompt.id, prompt.version, prompt.title, prompt.updated_at, prompt.updated_by, body, crc)
    connection.execute(ADD_VERSION, values)


def index_words(connection: Connection, prompt: SavedPrompt, text: str) -> None:
    words = "\n".join((prompt.title, " ".join(prompt.tags), text))
    words_of(connection).set_prompt(connection, prompt.id, words)


def versions_of(connection: Connection, prompt_id: str) -> list[PromptVersion]:
    rows: list[Any] = connection.execute(VERSIONS, (prompt_id,)).fetchall()
    return [PromptVersion(version=n, title=title, at=at, by=by) for n, title, at, by in rows]


def uses_of(connection: Connection, prompt_id: str, limit: int) -> list[PromptUse]:
    rows: list[Any] = connection.execute(USES, (prompt_id, limit)).fetchall()
    return [
        PromptUse(version=n, kind=kind, session_id=session_id, at=at, by=by)
        for n, kind, session_id, at, by in rows
    ]


def found_in(connection: Connection, text: str, limit: int) -> dict[str, list[str]]:
    """Ids of the prompts with these words, each with text around a match, in pieces: every second is a match.

    Prompts whose title has a word that is looked for come first; then the newest do.
    """
    query = asked(text)
    whole, beginning = query.marked

    def is_named(prompt: tuple[str, str]) -> bool:
        title = words_in(prompt[1].partition("\n")[0])
        return any(word in whole or (beginning and word.startswith(beginning)) for word in title)

    found = words_of(connection).prompts(connection, query)
    best = sorted(found, key=is_named, reverse=True)[:limit]
    return {prompt_id: list(snippet(body, query)) for prompt_id, body in best}


def _name(prompt_id: str) -> str:
    return f"prompt {prompt_id}"


def _decoded(prompt_id: str, body: object, crc: object) -> SavedPrompt:
    return _head.decode(check(_name(prompt_id), 0, body, crc, "record"))
