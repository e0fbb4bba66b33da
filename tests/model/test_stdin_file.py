"""The file that a program gets as its stdin."""

import subprocess

from bascule.model.stdin_file import stdin_file


def test_a_program_reads_it_from_its_beginning_to_its_end() -> None:
    data = bytes(range(256)) * 1000
    with stdin_file(data) as given:
        assert subprocess.run(["cat"], stdin=given, capture_output=True, check=True).stdout == data


def test_programs_after_one_another_read_on_where_the_first_stopped() -> None:
    with stdin_file(b"script\ndata") as given:
        read = ["sh", "-c", "dd bs=1 count=7 2>/dev/null; printf -- '- '; cat"]
        assert subprocess.run(read, stdin=given, capture_output=True, check=True).stdout == b"script\n- data"
