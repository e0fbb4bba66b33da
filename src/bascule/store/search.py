"""Full-text search over all transcripts. A query is words only, never search syntax."""

import re
import unicodedata

from bascule.model.errors import InvalidInput, StoreDamaged
from bascule.store import reader
from bascule.store.base import SearchHit, SearchResult
from bascule.store.connection import Connection
from bascule.store.rows import decode_entry, entry_body
from bascule.store.search_index import owed_to_search, row_id
from bascule.store.search_text import shown_of
from bascule.store.tokenizer import Query, query_of, spans_of, words_in
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


def search(
    connection: Connection, text: str, limit: int, session_id: str | None, *, only_found: bool = False
) -> SearchResult:
    """Newest first, titles before messages. Raises `InvalidInput` when there is nothing to look for."""
    query = asked(text)
    with words_of(connection).limited(connection, SECONDS):
        hits = _search(connection, query, limit, session_id, BELOW_OURS if only_found else HIGHEST)
        return SearchResult(hits, owed_to_search(connection))


def asked(text: str) -> Query:
    """The words to look for, without signs that could mean anything to a database. Raises `InvalidInput`."""
    text = "".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    terms = [term for term in text[:MAX_QUERY].split() if words_in(term)]
    if not terms:
        raise InvalidInput("Give at least one word to search for.")
    return query_of(terms[:MAX_TERMS])


def _search(
    connection: Connection, query: Query, limit: int, session_id: str | None, highest: int
) -> list[SearchHit]:
    words = words_of(connection)
    hits: list[SearchHit] = []
    if session_id is None:
        for found in words.titles(connection, query, highest, min(limit, TITLES_AT_MOST)):
            hits += _title_hit(connection, found, query)
        low, high = -(1 << 63), highest
    else:
        number = connection.execute(NUMBER, (session_id,)).fetchone()
        if number is None:
            return []
        low, high = row_id(number[0], 0), row_id(number[0], 0xFFFFFFFF)
    names: dict[int, str] = {}
    for rowid in words.texts(connection, query, low, high, limit - len(hits)):
        number = rowid >> 32
        if number not in names:
            session = connection.execute(SESSION, (number,)).fetchone()
            if session is None:
                continue  # an index that is a little damaged finds what is gone
            names[number] = session[0]
        hits += _message_hit(connection, names[number], rowid & 0xFFFFFFFF, query)
    return hits


def _title_hit(connection: Connection, session_id: str, query: Query) -> list[SearchHit]:
    try:
        record = reader.record(connection, session_id)
    except StoreDamaged:
        return []  # said where sessions are listed
    if record is None:
        return []
    marked = snippet(record.title, query)
    kind, archived, found = "title", record.archived, record.found
    return [SearchHit(session_id, record.title, 0, marked, record.updated_at, kind, archived, found)]


def _message_hit(connection: Connection, session_id: str, first_seq: int, query: Query) -> list[SearchHit]:
    values = connection.execute(ENTRY, (session_id, first_seq)).fetchone()
    try:
        record = reader.record(connection, session_id)
        entry = None if values is None else decode_entry(entry_body(session_id, *values))
    except StoreDamaged:
        return []
    if record is None or entry is None:
        return []
    kind = str(type(entry).__struct_config__.tag)
    marked = snippet(shown_of(entry), query)
    archived, found = record.archived, record.found
    return [SearchHit(session_id, record.title, first_seq, marked, entry.at, kind, archived, found)]


# What is shown of a match ---------------------------------------------------------------------------------


def snippet(text: str, query: Query) -> tuple[str, ...]:
    """Some text around the first match, in pieces: every second one is a match, the others are not."""
    whole, beginning = query.marked
    spans: list[tuple[int, int]] = []
    for start, stop in spans_of(text):
        if spans and start > spans[0][0] + 2 * AROUND:
            break
        for word in words_in(text[start:stop]):
            if word in whole or (beginning and word.startswith(beginning)):
                spans.append((start, stop))
                break
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
