"""Meta skill: the teacher's own memory from epoch to epoch, which no student ever reads."""

from __future__ import annotations

from reflact.optimizer.journal import Journal
from reflact.optimizer.slow_update import Guidance, written
from reflact.optimizer.teacher import Teacher
from reflact.optimizer.types import Comparison


async def remember(comparison: Comparison, former: str, teacher: Teacher, journal: Journal) -> Guidance:
    """Have the memory for the next epochs written, once; if that fails, the former one stays.

    Args:
        comparison: Both skills and the pairs that the policy kept.
        former: The memory so far, `""` if there is none.
        teacher: Who writes, and later reads it in analyses, merges, rankings and learning rates.
        journal: Where the reply is kept.
    """
    return await written("meta_skill", comparison, former, teacher, journal, teacher.remember)
