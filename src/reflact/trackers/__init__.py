"""Experiment trackers: listeners that pass a run's numbers on, each in a process of its own.

A tracker may be slow, hang, crash or be killed; the run never waits for it, and says once that it failed.
"""
