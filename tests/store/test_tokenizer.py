"""Words of a text: exact results, for scripts and signs that databases take differently."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.store.tokenizer import MAX_LETTERS, MAX_WORD, Query, joined, query_of, spans_of, words_in

WORDS = [
    ("The HERON, src/app_2.py", ["the", "heron", "src", "app", "2", "py"]),
    ("Une très belle CAFÉTÉRIA", ["une", "tres", "belle", "cafeteria"]),
    ("e\u0301tude Ångström ﬁn ｆｕｌｌ x²", ["etude", "angstrom", "fin", "full", "x2"]),
    ("Straße STRASSE ẞ İstanbul ø Łódź", ["strasse", "strasse", "ss", "istanbul", "ø", "łodz"]),
    ("ἀλφα ΆΛΦΑ ὁδός ΟΔΟΣ ᾠδή", ["αλφα", "αλφα", "οδοσ", "οδοσ", "ωδη"]),
    ("йод мои мой и\u0306од", ["йод", "мои", "мой", "йод"]),
    ("ещё еще Ёж за\u0301мок їжак ўсё", ["еще", "еще", "еж", "замок", "їжак", "ўсе"]),
    ("がく かく か\u3099く パン ﾊﾟﾝ", ["がく", "かく", "がく", "パン", "パン"]),
    ("한국 한국", ["한국", "한국"]),
    ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
    ("ภาษาไทย שָׁלוֹם", ["ภาษาไทย", unicodedata.normalize("NFKC", "שָׁלוֹם")]),
    ("\ue0b0main\ue0a0\uf418 x", ["main", "x"]),
    ("\u1c90\u1c91 \U0001e900\U0001e921", ["აბ", "\U0001e922\U0001e943"]),
    ("co\u00adoperate می\u200cخواهم a\u2060b", ["cooperate", "میخواهم", "ab"]),
    ("1\ufe0f\u20e3 ½ 😀 … -- \x00 \ud800", ["1", "1", "2"]),
]


@pytest.mark.row("X4", "X11")
@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_are_taken_in_one_way(text: str, words: list[str]) -> None:
    assert words_in(text) == words


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_a_word_is_marked_where_it_stands(text: str, words: list[str]) -> None:
    assert [word for start, stop in spans_of(text) for word in words_in(text[start:stop])] == words


def test_a_word_and_a_text_have_their_lengths() -> None:
    assert words_in("x" * 5000 + " é") == ["x" * MAX_WORD, "e"]
    assert sum(map(len, words_in("\ufdfa " * MAX_LETTERS))) <= MAX_LETTERS
    assert len(words_in("x " * MAX_LETTERS)) == MAX_LETTERS // 2


@pytest.mark.parametrize(
    ("terms", "query"),
    [
        (["two", "words"], Query([["two"], ["words"]], True)),
        (["src/app.py"], Query([["src", "app", "py"]], True)),
        (["x"], Query([["x"]], False)),
        (["é."], Query([["e"]], False)),
        (["heron", "--"], Query([["heron"]], False)),
        (["--"], Query([], False)),
    ],
)
def test_a_query_is_phrases_of_words_and_the_last_may_be_half(terms: list[str], query: Query) -> None:
    assert query_of(terms) == query


@given(st.text())
def test_no_word_holds_a_sign_that_a_database_could_read(text: str) -> None:
    for word in words_in(text):
        assert word
        assert not any(letter.isspace() or (letter.isascii() and not letter.isalnum()) for letter in word)
        assert word == word.lower()
    assert joined(text).split() == words_in(text)
