"""A small public-service API on loopback with believable, deterministic data, and the catalogue that describes it."""
