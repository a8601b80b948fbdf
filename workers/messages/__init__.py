"""Every sentence we say, in three languages."""
