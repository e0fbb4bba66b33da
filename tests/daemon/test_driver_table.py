"""Each protocol's driver is found by its name, begun with a launch and restored from its state."""

import pytest

from bascule.daemon.launching.driver_table import DRIVERS, begun, restored
from bascule.drivers.base import DriverLaunch


@pytest.mark.parametrize("protocol", DRIVERS)
def test_a_driver_is_begun_and_restored_as_the_class_that_the_table_names(protocol: str) -> None:
    driver = begun(protocol, DriverLaunch(cwd="/code", run="r1"))
    again = restored(protocol, driver.state())
    module, name = DRIVERS[protocol]
    for one in (driver, again):
        assert type(one).__name__ == name
        assert f"{type(one).__module__}.".startswith(f"{module}.")
    assert again.state() == driver.state()
