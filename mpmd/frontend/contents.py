"""What labels, calls and loops a jaxpr holds, found once for each jaxpr."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mpmd.frontend import _jax, marks
from mpmd.frontend.names import CallName, LabelName

_MARKS = {marks.named_tensor_p, marks.broadcast_p, marks.reduce_p}


def label_of(eqn: Any) -> LabelName | None:
    """The label that the equation is, if it is one."""
    name = eqn.params.get("name")
    return name if isinstance(name, LabelName) else None


def call_of(eqn: Any) -> CallName | None:
    """The call that the equation is, if it is one."""
    name = eqn.params.get("name")
    return name if isinstance(name, CallName) else None


def count_of(eqn: Any) -> int:
    """The transpose count of a label."""
    label = label_of(eqn)
    assert label is not None
    return transpose_count(label, eqn.params["jaxpr"])


def transpose_count(label: LabelName, body: Any) -> int:
    """The transpose count of a label with this body."""
    jaxpr, _ = _jax.jaxpr_of(body)
    return label.transpose_count + marks.transpose_count(jaxpr)


class Contents:
    """Answers about jaxprs, remembered by identity (and keeping what it was asked about alive)."""

    def __init__(self) -> None:
        """Starts with nothing known."""
        self._known: dict[tuple[str, int], tuple[Any, Any]] = {}

    def _remember(self, question: str, jaxpr: Any, answer: Any) -> Any:
        key = (question, id(jaxpr))
        if key not in self._known:
            self._known[key] = jaxpr, answer()
        return self._known[key][1]

    def is_marked(self, eqn: Any) -> bool:
        """Whether the equation is, or holds, anything the partitioner must see."""
        if label_of(eqn) is not None or eqn.primitive in _MARKS:
            return True
        return any(self.has_marks(sub) for sub in _jax.sub_jaxprs(eqn.params))

    def has_marks(self, closed: Any) -> bool:
        """Whether a jaxpr holds any label or mark."""
        jaxpr, _ = _jax.jaxpr_of(closed)
        return self._remember(
            "marks", closed, lambda: any(self.is_marked(eqn) for eqn in jaxpr.eqns)
        )

    def labels(self, closed: Any) -> Iterator[Any]:
        """All label equations of a jaxpr that are not inside another label."""
        jaxpr, _ = _jax.jaxpr_of(closed)
        for eqn in jaxpr.eqns:
            if label_of(eqn) is not None:
                yield eqn
            elif self.is_marked(eqn):
                for sub in _jax.sub_jaxprs(eqn.params):
                    yield from self.labels(sub)

    def depth(self, closed: Any) -> int:
        """The greatest transpose count of the labels."""
        counts = (count_of(eqn) for eqn in self.labels(closed))
        return self._remember("depth", closed, lambda: max(counts, default=0))

    def is_leaf(self, closed: Any) -> bool:
        """Whether a body can be one shared function: it has no marked loops and numbered calls."""
        jaxpr, _ = _jax.jaxpr_of(closed)
        return self._remember("leaf", closed, lambda: all(map(self._is_leaf, jaxpr.eqns)))

    def _is_leaf(self, eqn: Any) -> bool:
        if label_of(eqn) is not None or not self.is_marked(eqn):
            return True
        call = call_of(eqn)
        if eqn.primitive.name == "scan" or (call is not None and call.call_counter is not None):
            return False
        return all(map(self.is_leaf, _jax.sub_jaxprs(eqn.params)))

    def width(self, closed: Any) -> int:
        """How many call numbers one execution of the body takes."""
        jaxpr, _ = _jax.jaxpr_of(closed)
        return self._remember("width", closed, lambda: max(map(self._width, jaxpr.eqns), default=1))

    def _width(self, eqn: Any) -> int:
        if label_of(eqn) is not None or not self.is_marked(eqn):
            return 1
        inner = max(map(self.width, _jax.sub_jaxprs(eqn.params)), default=1)
        if eqn.primitive.name == "scan":
            return max(1, eqn.params["length"]) * inner
        call = call_of(eqn)
        return inner + ((call.call_counter or 0) if call is not None else 0)
