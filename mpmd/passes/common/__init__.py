"""Clean-ups that several phases share."""
