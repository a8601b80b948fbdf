"""The response cache: what an API said lately is not asked again, and a follow-up is read as one."""
