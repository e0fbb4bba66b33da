"""Bascule: the bridge between people and the coding agents on their machines."""

__version__ = "0.1.0"
