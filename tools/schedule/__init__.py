"""The command `mpmd-schedule`."""
