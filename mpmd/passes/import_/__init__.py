"""Import: labels to fragments on meshes, transfers, mesh inference."""
