"""The parts of the `mpmd-opt` driver."""
