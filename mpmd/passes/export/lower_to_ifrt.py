"""mpmd-lower-to-ifrt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.lowering import LoweringError, lower_to_ifrt
from mpmd.passes.base import Pass, PassFailure


@dataclass(frozen=True)
class LowerToIfrt(Pass):
    """Lowers an MPMD program of fragment calls and transfers to IFRT IR.

    The result names devices, not meshes: device ids count through the meshes of the topology. Each
    fragment function moves into a module of its own, ready for XLA.

        %1 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.main(%0)
        %2 = mpmd.transfer %1 : (!mesh_tensor<"m0", ...>) -> !mesh_tensor<"m1", ...>
        ~~>
        %1, %control = ifrt.Call @p0_f.main::@main(%0) on devices [0, 1] {ifrt.mesh_name = "m0"}
        %2, %control_0 = ifrt.CopyArrays(%1) : (..., [0, 1]>) -> !ifrt.array<..., [2, 3]>
        module @p0_f.main attributes {sym_visibility = "private"} {...}

    Requires one public function with a topology, and fragment calls instead of fragments.
    """

    name: ClassVar[str] = "mpmd-lower-to-ifrt"

    def run(self, module: ir.Operation) -> None:
        """Lowers the program in `module`."""
        try:
            lower_to_ifrt(module)
        except LoweringError as error:
            raise PassFailure(error.where, str(error)) from None
