"""Conversations as agents keep them on disk, read into events."""
