"""The prompt language of the scripted model."""

from tests.modelapi.script import Call, Fail, PlanFile, Slow, Text, Think, parse


def test_a_prompt_without_directives_is_not_a_script() -> None:
    assert parse("hello there") == []
    assert parse("std::vector is fine") == []


def test_replies_are_split_by_double_semicolons_and_blocks_by_double_plus() -> None:
    steps = parse("please ::think why ++ ::bash ls; pwd ;; ::text all\\ndone")
    assert steps == [
        (Think("why"), Call("Bash", {"command": "ls; pwd", "description": "Run: ls; pwd"})),
        (Text("all\ndone"),),
    ]


def test_a_plan_is_written_to_its_file_before_leaving_plan_mode() -> None:
    assert parse("::plan 1. do it") == [(PlanFile("1. do it"),), (Call("ExitPlanMode", {}),)]


def test_fields_of_file_directives_are_separated_by_bars() -> None:
    edit = Call("Edit", {"file_path": "a.txt", "old_string": "x", "new_string": "y|z"})
    assert parse("::edit a.txt | x | y|z") == [(edit,)]


def test_numbers_and_errors_are_read() -> None:
    assert parse("::slow 40 0.05 ;; ::error 529 ;; ::error 500 2") == [
        (Slow(40, 0.05),),
        (Fail(529, None),),
        (Fail(500, 2),),
    ]


def test_a_single_question_becomes_a_list_of_one() -> None:
    assert parse('::ask {"question": "Which?"}') == [
        (Call("AskUserQuestion", {"questions": [{"question": "Which?"}]}),)
    ]


def test_a_subagents_script_is_nested_with_double_commas() -> None:
    (step,) = parse("::task look | ::bash ls ,, ::text seen")
    assert isinstance(step[0], Call)
    assert step[0].arguments["prompt"] == "::bash ls ;; ::text seen"


def test_what_cannot_be_read_is_said_by_the_model_rather_than_raised() -> None:
    assert parse("::nonsense x") == [(Text("Unknown directive ::nonsense."),)]
    (step,) = parse("::write only-a-name")
    assert step == (Text("Cannot read ::write: expected 2 fields separated by |."),)
