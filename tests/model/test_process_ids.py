"""Liveness of a process id: in use, gone, or another user's."""

import os
import subprocess
import sys

from bascule.model.process_ids import pid_exists


def test_our_own_process_exists():
    assert pid_exists(os.getpid())


def test_a_process_that_was_waited_for_does_not_exist():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert not pid_exists(child.pid)


def test_the_first_process_exists_though_a_user_may_not_signal_it():
    assert pid_exists(1)
