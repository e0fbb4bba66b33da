"""The settings of this machine, read and checked."""

from bascule.config.load import ConfigError as ConfigError
from bascule.config.load import load as load
