"""Hydra finds our sweeper here."""
