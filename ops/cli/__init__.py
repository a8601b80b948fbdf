"""The `signalbox` command, one file a command group. Heavy libraries load inside the commands: it starts fast."""
