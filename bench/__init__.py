"""Measurements of speed, overhead and learning; `python -m bench` names them."""
