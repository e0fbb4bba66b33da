"""Parses a plain command line into words. Anything a shell could read otherwise is not parsed."""

import re
import shlex

# Words a shell takes as they are: no quoting, expansion, redirection, assignment or second command.
_WORD = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")
_BETWEEN = frozenset({"&&", "||", ";"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_SCRIPT_FLAGS = frozenset({"-c", "-lc"})
# Not programs: words of the shell's own grammar, which change what the words after them mean.
_GRAMMAR = frozenset(
    {
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "in",
        "select",
        "function",
        "time",
        "coproc",
    }
)
# After one of these the rest runs elsewhere or as something else, so it can't be judged part by part.
_CHANGES_THE_REST = frozenset(
    {
        "cd",
        "pushd",
        "popd",
        "export",
        "unset",
        "alias",
        "unalias",
        "source",
        ".",
        "eval",
        "exec",
        "set",
        "shopt",
        "trap",
        "declare",
        "typeset",
        "local",
        "readonly",
        "enable",
        "hash",
        "umask",
        "ulimit",
        "builtin",
        "command",
        "return",
        "exit",
        "break",
        "continue",
        "wait",
        "let",
        "read",
    }
)

Argv = tuple[str, ...]


def exact_argv(command: str) -> Argv | None:
    """The words of one plain command, or None when a shell could read it as anything else."""
    words = command.split(" ")
    if not all(_WORD.fullmatch(word) for word in words):
        return None
    if "=" in words[0]:  # an assignment before a command changes what the command does
        return None
    return tuple(words)


def is_plain_word(word: str) -> bool:
    """Whether a shell would read it unchanged."""
    return _WORD.fullmatch(word) is not None


def parts_of(command: str) -> tuple[Argv, ...] | None:
    """The plain commands of a line joined by `&&`, `||` or `;`, or None when any of it is not plain."""
    parts: list[list[str]] = [[]]
    for word in command.split(" "):
        if word in _BETWEEN:
            parts.append([])
        else:
            parts[-1].append(word)
    argvs = [exact_argv(" ".join(part)) for part in parts]
    plain = [argv for argv in argvs if argv is not None and argv[0] not in _GRAMMAR]
    if len(plain) != len(argvs):
        return None
    if len(plain) > 1 and any(argv[0] in _CHANGES_THE_REST for argv in plain):
        return None
    return tuple(plain)


def script_in(argv: Argv) -> str | None:
    """The script of `bash -lc <script>`; None for any other command."""
    if len(argv) != 3 or argv[1] not in _SCRIPT_FLAGS:
        return None
    folder, _, name = argv[0].rpartition("/")
    return argv[2] if name in _SHELLS and folder in ("", "/bin", "/usr/bin") else None


def quoted_script_in(line: str) -> str | None:
    """The same of a line that shows a command's words, each quoted where it must be."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    return script_in(tuple(words))
