"""Processes that hold the engine: the program they run, and the pool that the benchmark asks."""
