"""Flower's options, by its own names. The password comes from FLOWER_BASIC_AUTH; without one compose does not start it.

`address` is that of the container; compose publishes the port on loopback only. Its metrics and health pages answer
without the password: keep it behind a proxy of your own where more than operators share the host.
"""

address = "0.0.0.0"  # noqa: S104 - inside the container
port = 5555
max_tasks = 10_000
persistent = False
enable_events = True
purge_offline_workers = 3600
natural_time = False
