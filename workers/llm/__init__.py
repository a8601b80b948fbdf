"""The language model, when one is configured. Importing this package loads no model library; `open` does."""
