"""Settings of all benchmarks' tests."""

from hypothesis import settings

# The machine is shared: how long one example takes says nothing.
settings.register_profile("benchmarks", deadline=None)
settings.load_profile("benchmarks")
