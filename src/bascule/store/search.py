"""Full-text search over all transcripts. A query is words only, never search syntax."""

import re
import unicodedata

from bascule.model.errors import InvalidInput, StoreDamaged
from bascule.store import reader
from bascule.store.base import SearchHit, SearchResult
from bascule.store.connection import Connection
from bascule.store.rows import decode_entry, entry_body
from bascule.store.search_index import row_id
from bascule.store.search_text import shown_of
from bascule.store.words import words_of

MAX_TERMS = 16
MAX_QUERY = 400
SECONDS = 2.0  # a search that takes longer holds up the readers of everybody else
AROUND = 80  # characters shown on either side of the first match
TITLES_AT_MOST = 20
HIGHEST = (1 << 63) - 1
BELOW_OURS = -1  # found sessions have negative numbers

SESSION = "SELECT session_id FROM search_sessions WHERE n = ?"
ENTRY = "SELECT first_seq, body, crc FROM entries WHERE session_id = ? AND first_seq = ?"
NUMBER = "SELECT n FROM search_sessions WHERE session_id = ?"
OWED = "SELECT count(*) FROM (SELECT 1 FROM search_owed LIMIT 100000) AS owed"

_word = re.compile(r"\w+")


def search(
    connection: Connection, text: str, limit: int, session_id: str | None, *, only_found: bool = False
) -> SearchResult:
    """Newest first, titles before messages. Raises `InvalidInput` when there is nothing to look for."""
    terms = terms_of(text)
    with words_of(connection).limited(connection, SECONDS):
        hits = _search(connection, terms, limit, session_id, BELOW_OURS if only_found else HIGHEST)
        return SearchResult(hits, int(connection.execute(OWED).fetchone()[0]))


def terms_of(text: str) -> list[str]:
    """The words to look for, without signs that could mean anything to a database."""
    text = "".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    terms = [term for term in text[:MAX_QUERY].split() if any(letter.isalnum() for letter in term)]
    if not terms:
        raise InvalidInput("Give at least one word to search for.")
    return terms[:MAX_TERMS]


def _search(
    connection: Connection, terms: list[str], limit: int, session_id: str | None, highest: int
) -> list[SearchHit]:
    words = words_of(connection)
    hits: list[SearchHit] = []
    if session_id is None:
        for found in words.titles(connection, terms, highest, min(limit, TITLES_AT_MOST)):
            hits += _title_hit(connection, found, terms)
        low, high = -(1 << 63), highest
    else:
        number = connection.execute(NUMBER, (session_id,)).fetchone()
        if number is None:
            return []
        low, high = row_id(number[0], 0), row_id(number[0], 0xFFFFFFFF)
    names: dict[int, str] = {}
    for rowid in words.texts(connection, terms, low, high, limit - len(hits)):
        number = rowid >> 32
        if number not in names:
            names[number] = connection.execute(SESSION, (number,)).fetchone()[0]
        hits += _message_hit(connection, names[number], rowid & 0xFFFFFFFF, terms)
    return hits


def _title_hit(connection: Connection, session_id: str, terms: list[str]) -> list[SearchHit]:
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
    connection: Connection, session_id: str, first_seq: int, terms: list[str]
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
