"""A thin typed layer over the MLIR dialects that jaxlib ships."""
