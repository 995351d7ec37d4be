"""The runtime: loads and executes IFRT programs."""
