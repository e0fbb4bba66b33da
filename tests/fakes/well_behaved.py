"""Answers every prompt with one sentence."""

from speech import behave

behave()
