"""Names that carry a label through JAX's transformations.

A label is a ``jit`` equation whose name is one of these strings. JAX differentiates, batches,
partially evaluates and prunes ``jit`` itself, and hands the name on unchanged, so a label means
under every transformation what ``jax.jit`` means, and we need no rules of our own.
"""

from __future__ import annotations


class LabelName(str):
    """The name of a named computation, with what is known of it beside its body."""

    transpose_count: int
    call_counter: int | None

    def __new__(
        cls, name: str, *, transpose_count: int = 0, call_counter: int | None = None
    ) -> LabelName:
        """Makes a label name; the transpose count is at least the one given here."""
        self = super().__new__(cls, name)
        self.transpose_count = transpose_count
        self.call_counter = call_counter
        return self


class CallName(str):
    """The name of a shared microbatch body, with the number of this call of it."""

    call_counter: int | None

    def __new__(cls, name: str, *, call_counter: int | None = None) -> CallName:
        """Makes a call name."""
        self = super().__new__(cls, name)
        self.call_counter = call_counter
        return self


class SharedCall(CallName):
    """The name of a call of a body that has been expanded, and becomes a function."""


def check_label(name: object) -> str:
    """Refuses what cannot be a label's name."""
    if not isinstance(name, str):
        raise ValueError(f"a label's name must be a string, got {name!r}")
    if not name or name == "main" or name.startswith("mpmd."):
        raise ValueError(
            f"{name!r} cannot be a label: a name must not be empty, 'main', or start with 'mpmd.'"
        )
    return name


def check_call_counter(counter: object) -> int | None:
    """Refuses what cannot number a call."""
    if counter is None:
        return None
    try:
        number = counter.__index__()  # type: ignore[attr-defined]
    except AttributeError:
        raise ValueError(f"call_counter must be an integer or None, got {counter!r}") from None
    if isinstance(counter, bool) or not 0 <= number < 2**32:
        raise ValueError(f"call_counter must not be negative and fit 32 bits, got {counter!r}")
    return number
