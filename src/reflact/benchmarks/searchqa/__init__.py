"""SearchQA: quiz questions over search snippets, answered with a short text."""

from reflact.benchmarks.searchqa.benchmark import SearchQA

__all__ = ["SearchQA"]
