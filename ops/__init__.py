"""The operators' house: the command line, the embedded stack, images, dashboards, runbooks and decisions."""
