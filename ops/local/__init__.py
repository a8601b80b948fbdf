"""The embedded default: every part of the system as a process of this machine, watched by one supervisor.

stack       Stack: what a program or a test starts and stops
options     what a stack may be told
parts       the parts: command, environment, probe
supervisor  starts parts tier by tier, restarts what dies, stops in reverse
process     one part's process and its log
launch      ties a child's life to its parent's
server      which Redis-protocol server runs
probes      whether a part answers
ports       free ports
running     the note that a running stack leaves in its data folder
"""
