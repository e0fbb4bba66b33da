"""Reads the conversation files that agents keep on disk into events."""
