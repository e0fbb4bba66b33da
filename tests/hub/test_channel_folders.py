"""Folders of a channel: each is on one machine, which is named once there are several."""

import pytest

from bascule.api.machine_answers import DeviceStatus
from bascule.hub.api.channel_folders import folders_given, folders_shown
from bascule.hub.devices.switchboard import Switchboard
from bascule.model.errors import InvalidInput


class Board(Switchboard):
    """Knows these machines, by their ids and names."""

    def __init__(self, **names: str) -> None:
        self._known = [
            DeviceStatus(device, name, "1", online=True, epoch=1) for device, name in names.items()
        ]

    def devices(self) -> list[DeviceStatus]:
        return self._known


def test_with_one_machine_nobody_names_it() -> None:
    board = Board(d1="laptop")
    assert folders_given(board, ("/srv/shop", "laptop:/a", "d1:/b")) == ("d1:/srv/shop", "d1:/a", "d1:/b")
    assert folders_shown(board, ("d1:/srv/shop", "/earlier")) == ("/srv/shop", "/earlier")


def test_with_several_machines_each_folder_names_its_own() -> None:
    board = Board(d1="laptop", d2="desk", d3="desk")
    assert folders_given(board, ("laptop:/srv/shop", "d2:/srv/shop")) == ("d1:/srv/shop", "d2:/srv/shop")
    # Two of one name are told apart by their ids, and one that is gone has only that
    assert folders_shown(board, ("d1:/a", "d2:/a", "d9:/a", "/a")) == ("laptop:/a", "d2:/a", "d9:/a", "/a")


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("/srv/shop", "several machines; say which one has the folder: laptop:/srv/shop, desk:/srv/shop"),
        ("tower:/srv", "there is no machine 'tower'"),
        ("desk:/srv", "several machines have the name 'desk'"),
        ("shop", "not a whole path"),
        ("laptop:shop", "not a whole path"),
    ],
)
def test_a_folder_of_no_machine_or_of_several_is_refused_in_words(folder: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        folders_given(Board(d1="laptop", d2="desk", d3="desk"), (folder,))


def test_a_hub_that_knows_no_machine_yet_keeps_the_folder_of_any() -> None:
    assert folders_given(Board(), ("/srv/shop",)) == ("/srv/shop",)
