"""Prompts as Markdown files, exactly: what is read, what is written, and what agents' own files become."""

import pytest

from bascule.model import prompts
from bascule.model.errors import InvalidInput
from bascule.model.prompt_files import file_name, read_prompt_file, write_prompt_file
from bascule.model.prompts import Delta, DeltaOp, PromptContent, TemplateField


def text_of(content: PromptContent) -> str:
    return prompts.text_of(content.delta)


def test_a_file_without_a_head_is_its_text_and_its_name() -> None:
    read = read_prompt_file("web/button.md", "# Make a button\n\nBlue.", "p1")
    assert (read.id, read.content.title, read.content.project_id) == (None, "web:button", "p1")
    assert text_of(read.content) == "# Make a button\n\nBlue.\n"


def test_what_was_written_is_read_back_the_same() -> None:
    content = PromptContent(
        title='Review: "this"',
        kind="context",
        tags=("a, b", "ü"),
        always=True,
        contexts=("c1", "c2"),
        fields=(TemplateField(name="size", kind="choice", choices=("S", "M: big"), default="S"),),
        delta=Delta(ops=(DeltaOp(insert="---\nPick {{size}}\n\n"),)),
    )
    written = write_prompt_file("id1", content)
    read = read_prompt_file("x.md", written, None)
    assert (read.id, read.content) == ("id1", content)
    assert write_prompt_file("id1", read.content, written) == written


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        (
            "---\nargument-hint: [file] [how]\nallowed-tools: Bash(git:*)\n---\nFix $ARGUMENTS now",
            [("arguments", "")],
            "Fix {{arguments}} now\n",
        ),
        ("---\nargument-hint: a file\n---\nFix $ARGUMENTS", [("arguments", "a file")], "Fix {{arguments}}\n"),
        ("Cost $10, $1 and $ARGUMENTSX", [], "Cost $10, {{argument1}} and $ARGUMENTSX\n"),
    ],
)
def test_an_agents_command_becomes_a_template(text: str, fields: list[tuple[str, str]], body: str) -> None:
    read = read_prompt_file("fix.md", text, None)
    assert [(one.name, one.hint) for one in read.content.fields] == [one for one in fields if one[1]]
    assert text_of(read.content) == body


def test_what_is_not_ours_in_a_head_stays_and_so_do_the_agents_own_marks() -> None:
    before = "---\nallowed-tools:\n  - Read\n  - Bash(ls)\ndescription: Fixes\n---\nFix $1 and $ARGUMENTS\n"
    read = read_prompt_file("fix.md", before, None)
    after = write_prompt_file("id1", read.content, before)
    assert after == (
        '---\ntitle: "fix"\nid: "id1"\nallowed-tools:\n  - Read\n  - Bash(ls)\ndescription: Fixes\n---\n'
        "Fix $1 and $ARGUMENTS\n"
    )


def test_a_command_in_toml_is_read() -> None:
    read = read_prompt_file("git/commit.toml", 'description = "d"\nprompt = """Commit {{args}}"""', None)
    assert (read.content.title, text_of(read.content)) == ("git:commit", "Commit {{args}}\n")


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("a.md", "", "no text"),
        ("a.md", "---\ntitle: x\n---\n  \n", "no text"),
        ("a.toml", "prompt = ", "no TOML"),
        ("a.toml", "[package]\nname = 'x'", "no `prompt`"),
        ("a.md", '---\nkind: "verse"\n---\nx', "head can't be used"),
        ("a.md", "---\nfields:\n  - nothing\n---\nx", "head can't be used"),
    ],
)
def test_a_file_that_is_no_prompt_is_refused_in_words(path: str, text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_prompt_file(path, text, None)


def test_lines_of_windows_and_a_mark_at_the_beginning_are_taken() -> None:
    read = read_prompt_file("a.md", "\ufeff---\r\ntitle: T\r\ntags: a, b\r\n---\r\nText\r\n", None)
    assert (read.content.title, read.content.tags, text_of(read.content)) == ("T", ("a", "b"), "Text\n")


@pytest.mark.parametrize(
    ("title", "name"),
    [("Review a File!", "review-a-file.md"), ("../../etc", "etc.md"), ("…", "prompt.md"), ("Ünï", "ünï.md")],
)
def test_a_title_becomes_a_name_that_every_file_system_takes(title: str, name: str) -> None:
    assert file_name(title) == name
