"""A minimal terminal screen: enough to read a menu that a program drew, and where its marker is.

It places text, moves and clears. Colours, wide characters and scroll regions are ignored.
"""

import codecs
import re

_TOKEN = re.compile(
    r"\x1b\[([<-?!]?)([0-?]*)[ -/]*([@-~])"  # control sequence
    r"|\x1b\[[0-?]*[ -/]*(?=[^ -?@-~])"  # control sequence cancelled by what follows
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\)"  # control string
    r"|\x1b[ -/]*[0-OQ-WYZ\\`a-~]"
    r"|\x1b(?=\x1b)"  # begun, and cancelled by the next
    r"|[\x00-\x1a\x1c-\x1f\x7f]"
    r"|[^\x00-\x1f\x7f\x1b]+",
    re.DOTALL,
)
MAX_WAITING = 4096


class Screen:
    def __init__(self, cols: int, rows: int) -> None:
        self.cols, self.rows = max(1, cols), max(1, rows)
        self._lines = [[" "] * self.cols for _ in range(self.rows)]
        self._row = self._col = 0
        self._saved = (0, 0)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._waiting = ""

    def text(self) -> list[str]:
        return ["".join(line).rstrip() for line in self._lines]

    def resize(self, cols: int, rows: int) -> None:
        """Keep what fits; the program redraws the rest."""
        old = self._lines
        self.cols, self.rows = max(1, cols), max(1, rows)
        self._lines = [[" "] * self.cols for _ in range(self.rows)]
        for mine, theirs in zip(self._lines, old, strict=False):
            mine[: len(theirs)] = theirs[: self.cols]
        self._move(self._row, self._col)

    def feed(self, data: bytes) -> None:
        text = self._waiting + self._decode(data)
        place = 0
        while place < len(text):
            token = _TOKEN.match(text, place)
            if token is None:
                break  # an unfinished sequence, or a lone escape
            self._do(token)
            place = token.end()
        left = text[place:]
        # Drop a string that never ends.
        self._waiting = left if len(left) < MAX_WAITING else ""

    def _do(self, token: re.Match[str]) -> None:
        whole = token[0]
        if token[3]:
            if not token[1] or token[1] == "?":
                self._control(token[3], token[2], private=bool(token[1]))
        elif whole[0] == "\x1b":
            self._escape(whole[1:2])
        elif whole < " " or whole == "\x7f":
            self._character(whole)
        else:
            self._write(whole)

    def _write(self, text: str) -> None:
        for character in text:
            if self._col >= self.cols:
                self._col = 0
                self._line_feed()
            self._lines[self._row][self._col] = character
            self._col += 1

    def _character(self, character: str) -> None:
        match character:
            case "\r":
                self._col = 0
            case "\n" | "\x0b" | "\x0c":
                self._line_feed()
            case "\b":
                self._col = max(0, self._col - 1)
            case "\t":
                self._col = min(self.cols - 1, (self._col // 8 + 1) * 8)
            case _:
                pass

    def _escape(self, final: str) -> None:
        match final:
            case "7":
                self._saved = (self._row, self._col)
            case "8":
                self._move(*self._saved)
            case "D":
                self._line_feed()
            case "E":
                self._col = 0
                self._line_feed()
            case "M":
                self._row = max(0, self._row - 1)
            case "c":
                self._clear(0, self.rows)
                self._move(0, 0)
            case _:
                pass

    def _control(self, final: str, words: str, *, private: bool) -> None:
        numbers = [
            min(int(word), 10_000) if word.isdigit() and len(word) < 6 else 0 for word in words.split(";")
        ]
        first = numbers[0]
        step = max(1, first)
        if private:
            if final in "hl" and {47, 1047, 1049} & set(numbers):
                self._clear(0, self.rows)
                self._move(0, 0)
            return
        match final:
            case "H" | "f":
                self._move(step - 1, max(1, numbers[1] if len(numbers) > 1 else 1) - 1)
            case "A" | "F":
                self._move(self._row - step, 0 if final == "F" else self._col)
            case "B" | "e" | "E":
                self._move(self._row + step, 0 if final == "E" else self._col)
            case "C" | "a":
                self._move(self._row, self._col + step)
            case "D":
                self._move(self._row, self._col - step)
            case "G" | "`":
                self._move(self._row, step - 1)
            case "d":
                self._move(step - 1, self._col)
            case "J":
                self._erase_screen(first)
            case "K":
                self._erase_line(first)
            case "X":
                self._blank(self._row, self._col, self._col + step)
            case "s":
                self._saved = (self._row, self._col)
            case "u":
                self._move(*self._saved)
            case "L" | "M":
                self._shift_lines(step if final == "L" else -step)
            case "P":
                line = self._lines[self._row]
                line[self._col :] = (line[self._col + step :] + [" "] * step)[: self.cols - self._col]
            case _:
                pass

    def _move(self, row: int, col: int) -> None:
        self._row = min(max(0, row), self.rows - 1)
        self._col = min(max(0, col), self.cols - 1)

    def _line_feed(self) -> None:
        if self._row + 1 < self.rows:
            self._row += 1
        else:
            self._lines.append([" "] * self.cols)
            del self._lines[0]

    def _shift_lines(self, count: int) -> None:
        below = self._lines[self._row :]
        blank = [[" "] * self.cols for _ in range(min(abs(count), len(below)))]
        moved = blank + below if count > 0 else below[len(blank) :] + blank
        self._lines[self._row :] = moved[: len(below)]

    def _erase_screen(self, how: int) -> None:
        if how == 0:
            self._blank(self._row, self._col, self.cols)
            self._clear(self._row + 1, self.rows)
        elif how == 1:
            self._clear(0, self._row)
            self._blank(self._row, 0, self._col + 1)
        else:
            self._clear(0, self.rows)

    def _erase_line(self, how: int) -> None:
        start, end = {0: (self._col, self.cols), 1: (0, self._col + 1)}.get(how, (0, self.cols))
        self._blank(self._row, start, end)

    def _blank(self, row: int, start: int, end: int) -> None:
        start = min(start, self.cols)
        end = min(end, self.cols)
        self._lines[row][start:end] = [" "] * (end - start)

    def _clear(self, first: int, last: int) -> None:
        for row in range(first, last):
            self._blank(row, 0, self.cols)
