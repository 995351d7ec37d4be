"""Partition: SPMD sharding propagation over the whole program."""
