"""The Python face of a Bascule server: start sessions, follow them, answer them."""

from bascule.client.address import NotRunning as NotRunning
from bascule.client.address import Unreachable as Unreachable
from bascule.client.client import Client as Client
