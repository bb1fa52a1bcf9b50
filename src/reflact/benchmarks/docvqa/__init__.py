"""DocVQA: questions about the image of a document's page, answered with a short text."""

from reflact.benchmarks.docvqa.benchmark import DocVQA

__all__ = ["DocVQA"]
