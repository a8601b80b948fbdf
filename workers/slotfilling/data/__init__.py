"""Names that CLDR does not carry in the forms people use."""
