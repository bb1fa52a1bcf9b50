"""Confinement of programs that a model wrote or drives: one small interface, and what stands behind it.

`choose` says which means there is; a `Confinement` runs a `Job` and gives back a `ConfinedResult`. Whatever the means,
a job has limits, an environment made from nothing, and leaves no process behind.
"""

from reflact.confine.choose import Choice, choose
from reflact.confine.collect import read_regular, remove_tree
from reflact.confine.job import MIB, ConfinedResult, Confinement, ConfinementError, Door, Ending, Job, Limits, Mount
from reflact.confine.python import Python, this_python

__all__ = [
    "MIB",
    "Choice",
    "ConfinedResult",
    "Confinement",
    "ConfinementError",
    "Door",
    "Ending",
    "Job",
    "Limits",
    "Mount",
    "Python",
    "choose",
    "read_regular",
    "remove_tree",
    "this_python",
]
