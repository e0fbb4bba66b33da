"""A scripted stand-in for the Anthropic Messages API: the prompt itself says what the model answers."""
