"""mpmd-export-pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.passes.base import Pass, Pipeline, option
from mpmd.passes.cpp import CppPass
from mpmd.passes.registry import find


@dataclass(frozen=True)
class ExportPipeline(Pipeline):
    """Turns a partitioned program into one of fragment calls, ready to lower to IFRT.

    Cleans up, decides what is donated and how much memory to leave to others, checks the program,
    and gives each distinct fragment a function.
    """

    name: ClassVar[str] = "mpmd-export-pipeline"

    copy_constants: bool = option(False, "Make constants where they are used, not transfer them.")
    merge_transfers: bool = option(False, "Merge small transfers between the same two fragments.")
    fail_on_inferred_fragments: bool = option(True, "Fail when an inferred fragment is left.")
    fail_on_reshard_only_fragments: bool = option(False, "Fail when a fragment only reshards.")
    fail_on_param_transfers: bool = option(False, "Fail when a parameter is transferred.")
    param_pattern: str = option(
        "params['transformer", "What the path of an argument contains if it is a parameter."
    )
    fail_on_backward_deps: bool = option(
        False, "Fail when data of a forward-only program moves to an earlier mesh."
    )
    verbose_logging: bool = option(False, "Report which programs each mesh will run.")

    def passes(self) -> list[Pass]:
        """Returns the passes; the comments say why they stand where they do."""
        passes: list[Pass] = []
        # Both of these before the cleaning up: they leave operands and transfers that nothing uses.
        if self.copy_constants:
            passes.append(_make("mpmd-copy-constants"))
        if self.merge_transfers:
            passes.append(_make("mpmd-merge-transfers"))
        passes += [
            CppPass("func.func(cse)"),
            CppPass("canonicalize{region-simplify=disabled}"),
            _make("mpmd-fragment-dedup"),
            _make("mpmd-fragment-dce"),
            # Merging and dce can have made one value several results of the function again.
            _make("mpmd-uniquify-function-inputs-outputs"),
            # What the pass before made may belong into a neighbour.
            _make("mpmd-merge-inferred-fragments"),
            _make("mpmd-mark-offloaded-input-output"),
            _make("mpmd-mark-input-output-with-layouts"),
            # The order of the program is final after these: donation and memory depend on it.
            _make("mpmd-delay-inferred-fragments"),
            _make("mpmd-delay-transfers-from-cpu"),
            _make("mpmd-sink-create-token-into-fragments"),
            # After the last merging, and before calls of one program can differ in donation.
            _make("mpmd-generalize-fragment-functions"),
            _make("mpmd-separate-repeated-operands"),
            _make("mpmd-mark-aliasing-and-donation"),
            # What a donated value took is free for others.
            _make("mpmd-mark-fragment-reserved-memory"),
            _make(
                "mpmd-validate-no-param-transfers",
                fail_on_param_transfers=self.fail_on_param_transfers,
                param_pattern=self.param_pattern,
            ),
            # Before the calls, which no longer say what inferred a fragment.
            _make(
                "mpmd-validate-no-inferred-fragments",
                fail_on_inferred_fragments=self.fail_on_inferred_fragments,
            ),
            _make("mpmd-lower-to-fragment-calls", verbose_logging=self.verbose_logging),
            # On calls, so that messages name programs.
            _make(
                "mpmd-validate-no-reshards",
                fail_on_reshard_only_fragments=self.fail_on_reshard_only_fragments,
            ),
            _make(
                "mpmd-validate-no-backward-deps",
                fail_on_backward_deps=self.fail_on_backward_deps,
            ),
        ]
        return passes


def _make(name: str, **options: bool | str) -> Pass:
    cls = find(name)
    assert cls is not None, f"there is no pass {name}"
    return cls(**options)
