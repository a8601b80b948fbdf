"""Plumbing that both doors share; no product knowledge."""
