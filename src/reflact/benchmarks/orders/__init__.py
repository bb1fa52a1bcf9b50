"""`benchmark=orders`: a small extraction task of our own making."""

from reflact.benchmarks.orders.benchmark import Orders

__all__ = ["Orders"]
