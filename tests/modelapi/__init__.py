"""A scripted stand-in for four models' APIs: the prompt itself says what the model answers."""
