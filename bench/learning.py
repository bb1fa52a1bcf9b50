"""What a small model on this machine learns; see `bench/local_learning.py` for its options."""

from __future__ import annotations

from reflact.core.errors import ReflactError


def main() -> None:
    """Train on three seeds and print."""
    from bench import local_learning

    print("\nlearning: orders with the model in this process, held-out accuracy")
    try:
        local_learning.main([])
    except ReflactError as error:
        print(f"  left out: {error}")
