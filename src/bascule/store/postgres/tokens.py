"""Words of a text, as SQLite's FTS5 (unicode61, without diacritics) takes them, for another index."""

import unicodedata

MAX_WORD = 400  # characters; longer ones are no words but data, and an index has no room for them
MAX_WORDS = 16_000  # PostgreSQL counts no further within one text


def words_in(text: str) -> list[str]:
    """In their order, in lower case and without accents. `_` parts words, as every sign does."""
    words: list[str] = []
    word: list[str] = []
    for letter in text:
        if _in_word(letter):
            word.append(letter)
        elif word and not unicodedata.combining(letter):
            words.append(_folded("".join(word)))
            word = []
    if word:
        words.append(_folded("".join(word)))
    return [word for word in words if word][:MAX_WORDS]


def _in_word(letter: str) -> bool:
    return (letter.isascii() and letter.isalnum()) or unicodedata.category(letter)[0] in "LN"


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()[:MAX_WORD]
    apart = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))[:MAX_WORD]


def vector_of(text: str) -> str:
    """The words with their places, as PostgreSQL writes a `tsvector`; they hold no sign to be read."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words_in(text), 1):
        places.setdefault(word, []).append(place)
    return " ".join(f"{word}:{','.join(map(str, at))}" for word, at in places.items())


def query_of(terms: list[str]) -> str:
    """All terms; a term of several words as they stand side by side; the last one also as a beginning.

    Empty when no term holds a word.
    """
    phrases: list[str] = []
    for n, term in enumerate(terms, 1):
        words = words_in(term)
        if words:
            begins = n == len(terms) and len(term) > 1
            phrases.append(f"({' <-> '.join(words)}{':*' if begins else ''})")
    return " & ".join(phrases)
