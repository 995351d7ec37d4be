"""The keys of ``partitioning_options`` and what their values may be."""

from __future__ import annotations

from collections.abc import Mapping

from mpmd.schedules import NAMES

PartitioningOptions = Mapping[str, bool | str]

_KINDS: dict[str, type] = {
    "mpmd_infer_transfers": bool,
    "mpmd_infer_cross_mesh_reductions": bool,
    "mpmd_fragment_remat": bool,
    "mpmd_merge_remat_fragments": bool,
    "mpmd_split_bwd_fragments": bool,
    "mpmd_assume_homogeneous_devices": bool,
    "mpmd_absorb_inferred_fragments_on_entry_point_function": bool,
    "mpmd_copy_constant_creation_from_producer_to_consumer": bool,
    "mpmd_apply_merge_transfers_pass": bool,
    "mpmd_merge_inferred_after_scheduling": bool,
    "mpmd_pipeline_schedule": str,
}


def check_options(options: object) -> dict[str, bool | str]:
    """Refuses unknown keys, wrong types and unknown schedules."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"partitioning_options must be a dict, got {options!r}")
    for key, value in options.items():
        kind = _KINDS.get(key) if isinstance(key, str) else None
        if kind is None:
            raise ValueError(
                f"partitioning_options has no key {key!r}; the keys are {', '.join(sorted(_KINDS))}"
            )
        if not isinstance(value, kind):
            raise ValueError(
                f"partitioning_options[{key!r}] must be a {kind.__name__}, got {value!r}"
            )
    if "mpmd_pipeline_schedule" in options:
        name = options["mpmd_pipeline_schedule"]
        check_schedule_name(name, "partitioning_options['mpmd_pipeline_schedule']")
    return dict(options)


def check_schedule_name(name: object, key: str) -> None:
    """Refuses a name that is no schedule's."""
    if name not in NAMES:
        raise ValueError(f"{key} is no schedule: {name!r}; there are {', '.join(NAMES)}")
