"""The cost of taking words from texts in Python, against FTS5's own tokenizer: `make bench BENCH=tokenizing`.

Both ways fill an index in memory with the same entries; processor time, the least of some runs.
"""

import random
import sqlite3
import time
from collections.abc import Callable

from bascule.store.tokenizer import joined

ENTRIES, LENGTH, RUNS = 200, 4000, 5
VOCABULARY = 20_000  # different words; some are said often, most are not
LETTERS = {
    "English": "etaoinshrdlucmfw",
    "French": "etaoinsrélucmàdè",
    "Russian": "оеаинтсрвлкмдйёу",
    "Japanese": "のはにをたがでてと日本語人見川水",
}


def entries(letters: str) -> list[str]:
    chance = random.Random(1)
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(VOCABULARY)]
    weights = [1 / (n + 1) for n in range(VOCABULARY)]
    return [" ".join(chance.choices(words, weights, k=LENGTH // 6))[:LENGTH] for _ in range(ENTRIES)]


def fill(tokenize: str, texts: list[str], words: Callable[[str], str]) -> float:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(
        f'CREATE VIRTUAL TABLE t USING fts5(words, content="", columnsize=0, tokenize="{tokenize}")'
    )
    began = time.process_time()
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO t (rowid, words) VALUES (?, ?)", enumerate(map(words, texts), 1))
    connection.execute("COMMIT")
    spent = time.process_time() - began
    connection.close()
    return spent


def only_words(texts: list[str]) -> float:
    began = time.process_time()
    for text in texts:
        joined(text)
    return time.process_time() - began


def main() -> None:
    print(f"ms for a million characters; {ENTRIES} entries of {LENGTH}")
    print("| text | FTS5's own | words in Python, then FTS5 | of it Python | ratio |\n|---|---|---|---|---|")
    for name, letters in LETTERS.items():
        texts = entries(letters)
        millions = sum(map(len, texts)) / 1_000_000
        own = min(fill("unicode61 remove_diacritics 2", texts, str) for _ in range(RUNS)) / millions
        ours = min(fill("ascii", texts, joined) for _ in range(RUNS)) / millions
        python = min(only_words(texts) for _ in range(RUNS)) / millions
        print(f"| {name} | {own * 1000:.0f} | {ours * 1000:.0f} | {python * 1000:.0f} | {ours / own:.2f} |")


if __name__ == "__main__":
    main()
