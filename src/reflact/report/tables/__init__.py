"""Result tables, made from run directories and nothing else.

The way of a number: `found` reads run directories and plans, `points` says where in the study a run belongs, `judge`
whether it may stand there, `measure` takes its numbers, `group` and `overview` arrange them, and the modules of the
formats write them.
"""
