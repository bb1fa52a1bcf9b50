"""Figures of a study, one file a kind: what a paper shows, from the same numbers as the tables.

Needs the extra `plots`; matplotlib is imported when a figure is drawn.
"""
