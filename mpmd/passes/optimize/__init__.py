"""Optimize: merging, splitting and scheduling fragments."""
