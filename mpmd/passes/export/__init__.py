"""Export: donation, memory and validation of the final program."""
