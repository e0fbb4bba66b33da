"""Full-text search over all transcripts. A query is words only, never search syntax."""

import re
import sqlite3
import unicodedata
from time import monotonic

from bascule.model.errors import InvalidInput, LimitReached, StoreDamaged
from bascule.store import reader
from bascule.store.base import SearchHit, SearchResult
from bascule.store.rows import decode_entry, entry_body
from bascule.store.search_index import row_id
from bascule.store.search_text import shown_of

MAX_TERMS = 16
MAX_QUERY = 400
SECONDS = 2.0  # a search that takes longer holds up the readers of everybody else
AROUND = 80  # characters shown on either side of the first match
TITLES_AT_MOST = 20
STEPS_BETWEEN_LOOKS = 5000
HIGHEST = (1 << 63) - 1
BELOW_OURS = -1  # found sessions have negative numbers

TEXT = """
SELECT rowid FROM search_text WHERE search_text MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?
"""
TITLES = """
SELECT search_titles.rowid, session_id FROM search_titles
JOIN search_sessions ON search_sessions.n = search_titles.rowid
WHERE search_titles MATCH ? AND search_titles.rowid <= ? ORDER BY search_titles.rowid DESC LIMIT ?
"""
SESSION = "SELECT session_id FROM search_sessions WHERE n = ?"
ENTRY = "SELECT first_seq, body, crc FROM entries WHERE session_id = ? AND first_seq = ?"
NUMBER = "SELECT n FROM search_sessions WHERE session_id = ?"
OWED = "SELECT count(*) FROM (SELECT 1 FROM search_owed LIMIT 100000)"

_word = re.compile(r"\w+")


def search(
    connection: sqlite3.Connection,
    text: str,
    limit: int,
    session_id: str | None,
    *,
    only_found: bool = False,
) -> SearchResult:
    """Newest first, titles before messages. Raises `InvalidInput` when there is nothing to look for."""
    terms = terms_of(text)
    deadline = monotonic() + SECONDS
    connection.set_progress_handler(lambda: monotonic() > deadline, STEPS_BETWEEN_LOOKS)
    try:
        hits = _search(connection, terms, limit, session_id, BELOW_OURS if only_found else HIGHEST)
        return SearchResult(hits, int(connection.execute(OWED).fetchone()[0]))
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            raise LimitReached("This search takes too long; give longer words.") from None
        raise
    finally:
        connection.set_progress_handler(None, 0)


def terms_of(text: str) -> list[str]:
    """The words to look for. Each becomes one quoted string, so no sign in it can mean anything."""
    text = "".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    terms = [term for term in text[:MAX_QUERY].split() if any(letter.isalnum() for letter in term)]
    if not terms:
        raise InvalidInput("Give at least one word to search for.")
    return terms[:MAX_TERMS]


def expression(terms: list[str]) -> str:
    quoted = ['"' + term.replace('"', '""') + '"' for term in terms]
    # People search while they type: the last word may be half there. One letter would match everything.
    return " ".join(quoted) + ("*" if len(terms[-1]) > 1 else "")


def _search(
    connection: sqlite3.Connection, terms: list[str], limit: int, session_id: str | None, highest: int
) -> list[SearchHit]:
    wanted = expression(terms)
    hits: list[SearchHit] = []
    if session_id is None:
        for _, found in connection.execute(TITLES, (wanted, highest, min(limit, TITLES_AT_MOST))).fetchall():
            hits += _title_hit(connection, found, terms)
        low, high = -(1 << 63), highest
    else:
        number = connection.execute(NUMBER, (session_id,)).fetchone()
        if number is None:
            return []
        low, high = row_id(number[0], 0), row_id(number[0], 0xFFFFFFFF)
    names: dict[int, str] = {}
    rows = connection.execute(TEXT, (wanted, low, high, limit - len(hits))).fetchall()
    for (rowid,) in rows:
        number = rowid >> 32
        if number not in names:
            names[number] = connection.execute(SESSION, (number,)).fetchone()[0]
        hits += _message_hit(connection, names[number], rowid & 0xFFFFFFFF, terms)
    return hits


def _title_hit(connection: sqlite3.Connection, session_id: str, terms: list[str]) -> list[SearchHit]:
    try:
        record = reader.record(connection, session_id)
    except StoreDamaged:
        return []  # said where sessions are listed
    if record is None:
        return []
    marked = snippet(record.title, terms)
    kind, archived, found = "title", record.archived, record.found
    return [SearchHit(session_id, record.title, 0, marked, record.updated_at, kind, archived, found)]


def _message_hit(
    connection: sqlite3.Connection, session_id: str, first_seq: int, terms: list[str]
) -> list[SearchHit]:
    values = connection.execute(ENTRY, (session_id, first_seq)).fetchone()
    try:
        record = reader.record(connection, session_id)
        entry = None if values is None else decode_entry(entry_body(session_id, *values))
    except StoreDamaged:
        return []
    if record is None or entry is None:
        return []
    kind = str(type(entry).__struct_config__.tag)
    marked = snippet(shown_of(entry), terms)
    archived, found = record.archived, record.found
    return [SearchHit(session_id, record.title, first_seq, marked, entry.at, kind, archived, found)]


# What is shown of a match ---------------------------------------------------------------------------------


def folded(text: str) -> str:
    """Without accents and case, as the index sees words."""
    apart = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def snippet(text: str, terms: list[str]) -> tuple[str, ...]:
    """Some text around the first match, in pieces: every second one is a match, the others are not."""
    words = [folded(word) for term in terms for word in _word.findall(term)]
    whole, beginning = set(words), words[-1] if words else ""
    spans: list[tuple[int, int]] = []
    for found in _word.finditer(text):
        if spans and found.start() > spans[0][0] + 2 * AROUND:
            break
        word = folded(found[0])
        if word in whole or (len(beginning) > 1 and word.startswith(beginning)):
            spans.append(found.span())
    return _cut(text, spans)


def _cut(text: str, spans: list[tuple[int, int]]) -> tuple[str, ...]:
    first = spans[0][0] if spans else 0
    begin = max(0, first - AROUND)
    end = min(len(text), first + 2 * AROUND)
    pieces = ["…" if begin else ""]
    at = begin
    for start, stop in spans:
        if stop > end:
            break
        pieces[-1] += _line(text[at:start])
        pieces += [text[start:stop], ""]
        at = stop
    pieces[-1] += _line(text[at:end]) + ("…" if end < len(text) else "")
    return tuple(pieces)


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
