"""The report: one HTML file about runs and the study that they make.

The way of the data: `entries` finds runs and compiles the tables; `overview`, `story` and `trajectories` read one run
each; `pack` turns what they return into text that means nothing in HTML; `study` makes the first page of what was
found; `page` puts all of it beside the parts in `assets`.
"""
