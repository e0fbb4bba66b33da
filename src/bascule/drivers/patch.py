"""Makes unified diffs from a file's content before and after, bounded in time and size."""

from difflib import SequenceMatcher

from bascule.drivers.lenient import clip
from bascule.model.events import Diff

MAX_PATCH = 512 * 1024
MAX_COMPARED = 1000  # lines that differ; beyond that the old is shown as removed and the new as added
CONTEXT = 3
NO_NEWLINE = "\\ No newline at end of file"


def diff_of(path: str, before: str, after: str) -> Diff:
    # If neither side ends with a newline, both are parts of a file rather than whole files.
    pieces = not before.endswith("\n") and not after.endswith("\n") and bool(before)
    old, new = _lines(before, pieces), _lines(after, pieces)
    patch: list[str] = []
    added = removed = 0
    for group in _groups(old, new):
        _, old_from, old_to, new_from, new_to = (
            group[0][0],
            group[0][1],
            group[-1][2],
            group[0][3],
            group[-1][4],
        )
        patch.append(f"@@ -{_span(old_from, old_to)} +{_span(new_from, new_to)} @@")
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                patch += [f" {line}" for line in old[i1:i2]]
                continue
            patch += _marked("-", old[i1:i2])
            patch += _marked("+", new[j1:j2])
            removed += i2 - i1
            added += j2 - j1
    return Diff(path, clip("\n".join(patch), MAX_PATCH), added, removed)


def whole_file(path: str, content: str) -> Diff:
    return diff_of(path, "", content)


def counted(path: str, patch: str) -> Diff:
    """A diff from the agent's own patch: counts its lines and drops its file headers."""
    at = patch.find("@@")
    if at > 0 and not patch.startswith("@@"):
        patch = patch[at:]
    lines = patch.splitlines()
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return Diff(path, clip(patch.rstrip("\n"), MAX_PATCH), added, removed)


_Opcode = tuple[str, int, int, int, int]


def _groups(old: list[str], new: list[str]) -> list[list[_Opcode]]:
    """Opcodes of the differences with their context, as positions in both files."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    if head == len(old) == len(new):
        return []
    start = max(0, head - CONTEXT)
    after = min(CONTEXT, tail)
    a, b = old[start : len(old) - tail + after], new[start : len(new) - tail + after]
    if max(len(a), len(b)) > MAX_COMPARED:
        codes: list[_Opcode] = [
            ("equal", 0, head - start, 0, head - start),
            ("replace", head - start, len(a) - after, head - start, len(b) - after),
            ("equal", len(a) - after, len(a), len(b) - after, len(b)),
        ]
        groups = [[code for code in codes if code[1] != code[2] or code[3] != code[4]]]
    else:
        groups = [list(group) for group in SequenceMatcher(None, a, b).get_grouped_opcodes(CONTEXT)]
    return [
        [(kind, i1 + start, i2 + start, j1 + start, j2 + start) for kind, i1, i2, j1, j2 in group]
        for group in groups
    ]


def _common(old: list[str], new: list[str]) -> int:
    count = 0
    for left, right in zip(old, new, strict=False):
        if left != right:
            break
        count += 1
    return count


def _span(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1 if length else start},{length}"


def _lines(text: str, piece: bool) -> list[str]:
    """Lines without their newline; a last line that lacks it gets the usual remark."""
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    if not piece:
        lines[-1] = f"{lines[-1]}\n{NO_NEWLINE}"
    return lines


def _marked(mark: str, lines: list[str]) -> list[str]:
    return [f"{mark}{line}" for line in lines]
