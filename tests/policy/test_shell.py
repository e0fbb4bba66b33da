"""Plain command lines: what is read word by word, and what is not because a shell could read it otherwise."""

import pytest

from bascule.policy.shell import Argv, exact_argv, is_plain_word, parts_of, quoted_script_in, script_in

GRAMMAR = "if then elif else fi for while until do done case esac in select function time coproc"
CHANGES_THE_REST = """
    cd pushd popd export unset alias unalias source . eval exec set shopt trap declare typeset local readonly
    enable hash umask ulimit builtin command return exit break continue wait let read
"""


@pytest.mark.row("F4")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ls", ("ls",)),
        ("make test", ("make", "test")),
        ("git log --format=%h origin/main", ("git", "log", "--format=%h", "origin/main")),
        ("pip install a==1,b+c user@host:/x_y", ("pip", "install", "a==1,b+c", "user@host:/x_y")),
        ("make A=1", ("make", "A=1")),
    ],
)
def test_a_plain_command_is_read_word_by_word(line: str, words: Argv):
    assert exact_argv(line) == words


@pytest.mark.row("F4")
@pytest.mark.parametrize(
    "line",
    [
        "",
        " ls",
        "ls ",
        "ls  -l",
        "ls\t-l",
        "ls\nrm",
        "A=1 make",
        "ls 'a b'",
        'ls "a"',
        "ls a\\ b",
        "ls $HOME",
        "ls `pwd`",
        "ls $(pwd)",
        "ls *",
        "ls ?",
        "ls [a]",
        "ls {a,b}",
        "ls ~",
        "ls > out",
        "cat < in",
        "ls | sh",
        "ls & rm",
        "ls && rm",
        "ls; rm",
        "ls !!",
        "ls #",
        "ls é",
        "ls ^a",
    ],
)
def test_what_a_shell_could_read_otherwise_is_not_read_at_all(line: str):
    assert exact_argv(line) is None


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("make", True),
        ("a/b.c:d@e%f+g,h=i-j_k", True),
        ("", False),
        ("a b", False),
        ("$a", False),
        ("a\n", False),
    ],
)
def test_a_word_is_plain_when_a_shell_takes_it_as_it_stands(word: str, plain: bool):
    assert is_plain_word(word) is plain


@pytest.mark.row("F4")
@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("make test", (("make", "test"),)),
        ("make && make test", (("make",), ("make", "test"))),
        ("a || b ; c -d", (("a",), ("b",), ("c", "-d"))),
        ("cd src", (("cd", "src"),)),  # alone it changes nothing for anything after it
        ("echo cd && ls", (("echo", "cd"), ("ls",))),
        ("echo if", (("echo", "if"),)),
    ],
)
def test_a_chain_of_plain_commands_is_read_part_by_part(line: str, parts: tuple[Argv, ...]):
    assert parts_of(line) == parts


@pytest.mark.row("F4")
@pytest.mark.parametrize(
    "line",
    [
        "",
        "&&",
        "make &&",
        "&& make",
        "make && && test",
        "make&&test",
        "make && ls $HOME",
        "make; ls",
        "make & ls",
        "make | ls",
        "A=1 make && ls",
    ],
)
def test_a_chain_with_a_part_that_is_not_plain_is_not_read(line: str):
    assert parts_of(line) is None


@pytest.mark.row("F4")
@pytest.mark.parametrize("word", GRAMMAR.split())
def test_a_word_of_the_shells_grammar_begins_no_plain_command(word: str):
    assert parts_of(f"{word} make") is None
    assert parts_of(f"make ; {word} test") is None
    assert parts_of(f"make {word}") == (("make", word),)


@pytest.mark.row("F4")
@pytest.mark.parametrize("word", CHANGES_THE_REST.split())
def test_a_builtin_that_changes_what_follows_spoils_a_chain_and_nothing_else(word: str):
    assert parts_of(f"{word} x") == ((word, "x"),)
    assert parts_of(f"{word} x && make") is None
    assert parts_of(f"make && {word} x") is None


@pytest.mark.parametrize(
    ("argv", "script"),
    [
        (("bash", "-lc", "make test"), "make test"),
        (("sh", "-c", "ls | sh"), "ls | sh"),
        (("/bin/zsh", "-c", "ls"), "ls"),
        (("/usr/bin/dash", "-c", "ls"), "ls"),
        (("bash", "-c", ""), ""),
        (("fish", "-c", "ls"), None),
        (("/tmp/bash", "-c", "ls"), None),
        (("bin/bash", "-c", "ls"), None),
        (("bash", "-x", "ls"), None),
        (("bash", "-c"), None),
        (("bash", "-c", "ls", "name"), None),
        ((), None),
    ],
)
def test_a_script_is_what_a_shell_of_the_system_is_given(argv: Argv, script: str | None):
    assert script_in(argv) == script


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("bash -lc 'make test'", "make test"),
        ("/bin/sh -c ls", "ls"),
        ("bash -lc \"echo 'a'\"", "echo 'a'"),
        ("bash -lc 'make test", None),
        ("make test", None),
        ("", None),
    ],
)
def test_a_script_is_found_in_a_line_of_quoted_words(line: str, script: str | None):
    assert quoted_script_in(line) == script
