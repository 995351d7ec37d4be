"""MPMD partitioning of JAX programs."""
