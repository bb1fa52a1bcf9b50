"""LiveMathematicianBench: multiple-choice questions about theorems of recent papers."""

from reflact.benchmarks.livemathematicianbench.benchmark import LiveMathematicianBench

__all__ = ["LiveMathematicianBench"]
