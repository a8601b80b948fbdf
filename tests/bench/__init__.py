"""Benchmarks: ratios of things measured side by side in one run. Never part of the tests."""
