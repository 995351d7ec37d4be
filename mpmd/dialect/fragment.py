"""One view over both forms of a fragment.

Before outlining a fragment is `mpmd.fragment`, with its body as a region; afterwards it is
`mpmd.fragment_call`, with its body in a private function that equal fragments share. Passes see
`Fragment` and never ask which form it has; what rewrites bodies goes through `compose`,
`prune` and `edit`.
"""

from mpmd.dialect._bodies import Bodies
from mpmd.dialect._compose import (
    ARGUMENT,
    Wire,
    compose,
    edit,
    erase_dead,
    fused_location,
    is_used,
    local_type,
    prune,
    set_returned,
)
from mpmd.dialect._view import CALL, REGION, Fragment, fragments

__all__ = [
    "ARGUMENT",
    "CALL",
    "REGION",
    "Bodies",
    "Fragment",
    "Wire",
    "compose",
    "edit",
    "erase_dead",
    "fragments",
    "fused_location",
    "is_used",
    "local_type",
    "prune",
    "set_returned",
]
