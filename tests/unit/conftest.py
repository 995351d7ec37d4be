"""Eight virtual CPU devices for every test; must happen before jax is imported."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
if "xla_force_host_platform_device_count" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    )
# Compiling takes most of the time of the tests, and what LLVM optimizes is not theirs to check;
# the examples compile as users do.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
