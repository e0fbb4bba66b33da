"""The loop watch counts the same call with the same outcome, and nothing else."""

from bascule.policy.loop_watch import MAX_KNOWN, LoopWatch


def call(
    watch: LoopWatch, tool: str = "Bash", input: bytes = b"{}", output: str = "no", status: str = "done"
):
    return watch.count(tool, input, status, output)


def test_the_same_call_with_the_same_outcome_is_counted():
    watch = LoopWatch()
    assert [call(watch) for _ in range(3)] == [1, 2, 3]


def test_another_tool_input_outcome_or_status_is_another_call():
    watch = LoopWatch()
    call(watch)
    for changed in ({"tool": "Read"}, {"input": b'{"a":1}'}, {"output": "yes"}, {"status": "failed"}):
        assert call(watch, **changed) == 1
    assert call(watch) == 2  # also when others came in between


def test_a_new_turn_counts_from_the_beginning():
    watch = LoopWatch()
    call(watch)
    watch.clear()
    assert call(watch) == 1


def test_what_is_remembered_is_bounded():
    watch = LoopWatch()
    call(watch, input=b"first")
    for n in range(MAX_KNOWN):
        call(watch, input=b"%d" % n)
    assert call(watch, input=b"first") == 1
