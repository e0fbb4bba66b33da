"""A steady clock that a test moves."""


class Steady:
    now = 1000.0

    def __call__(self) -> float:
        return self.now
