"""Test classes to inherit: they prove that a benchmark or a model backend keeps its contract.

Put the class in a test module, derive from it, and say how yours is made; pytest does the rest.
"""
