"""Reading the spool: by offset across segments, empty at the end, plain about what was trimmed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bascule.keeper.layout import SEGMENT_BYTES
from bascule.keeper.spool import Spool
from bascule.transport.errors import SpoolTrimmed
from bascule.transport.spool import SpoolReader


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spool")
    (folder / "spool" / "a").mkdir(parents=True)
    data = b"".join(number.to_bytes(4, "big") for number in range((SEGMENT_BYTES + 1_000_000) // 4))
    spool = Spool(str(folder / "spool" / "a"), "out")
    view = memoryview(data)
    while view:
        view = view[spool.append(view) :]
    spool.close()
    return folder, data


@settings(max_examples=50)
@given(offset=st.integers(0, SEGMENT_BYTES + 1_000_000), limit=st.integers(1, 1 << 20))
def test_any_read_gives_the_bytes_written_there(written, offset, limit):
    folder, data = written
    reader = SpoolReader(folder, "a", "out")
    got = reader.read(offset, limit)
    reader.close()
    assert got == data[offset : offset + len(got)]
    assert got or offset >= len(data)


def test_reading_on_crosses_segments_and_ends_empty(written):
    folder, data = written
    reader, parts, offset = SpoolReader(folder, "a", "out"), [], 0
    while part := reader.read(offset, 300_000):
        parts.append(part)
        offset += len(part)
    reader.close()
    assert b"".join(parts) == data


def test_a_stream_that_has_no_byte_yet_reads_as_empty(written):
    reader = SpoolReader(written[0], "a", "err")
    assert reader.read(0, 100) == b""
    reader.close()


def test_an_offset_that_was_trimmed_is_an_error_not_silence(tmp_path):
    (tmp_path / "spool" / "a").mkdir(parents=True)
    (tmp_path / "spool" / "a" / f"out.{SEGMENT_BYTES:020d}").write_bytes(b"later")
    reader = SpoolReader(tmp_path, "a", "out")
    with pytest.raises(SpoolTrimmed):
        reader.read(5, 10)
    assert reader.read(SEGMENT_BYTES, 10) == b"later"
    reader.close()
