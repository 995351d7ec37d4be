"""The compiler passes, one module each, in folders that are the phases."""
