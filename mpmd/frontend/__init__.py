"""The side of JAX: labels, configuration, tracing, and the stages of a partitioned function."""

from mpmd.frontend.export import register

register()
