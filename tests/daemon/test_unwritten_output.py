"""What is said of agents whose output the keeper can't write."""

import pytest

from bascule.daemon.processes.unwritten_output import UnwrittenOutput
from bascule.transport.keeper_messages import StorageNotice

pytestmark = pytest.mark.row("REL-19", "R20")


def test_the_problem_is_said_until_the_last_process_goes_on():
    output = UnwrittenOutput()
    said: list[str | None] = []
    output.on_change = lambda: said.append(output.problem)
    for name, error in (("a", "ENOSPC"), ("b", "ENOSPC"), ("a", None), ("b", None), ("b", None)):
        output.hear(StorageNotice(name, error))
    one = "The disk is full: the output of an agent waits until there is room again."
    assert said == [one, one.replace("an agent", "2 agents"), one, None]


def test_a_disk_that_is_broken_is_not_called_full():
    output = UnwrittenOutput()
    output.hear(StorageNotice("a", "EIO"))
    assert output.problem == "The disk can't be written (EIO): the output of an agent waits until it can."


def test_a_process_that_is_over_is_no_problem():
    output = UnwrittenOutput()
    output.hear(StorageNotice("a", "ENOSPC"))
    output.forget("a")
    assert output.problem is None


def test_a_keeper_that_is_reached_again_says_what_holds_now():
    output = UnwrittenOutput()
    for name in "ab":
        output.hear(StorageNotice(name, "ENOSPC"))
    output.clear()
    assert output.problem is None
