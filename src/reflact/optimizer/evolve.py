"""Evolve: the teacher answers the prompt of a search that is not ours."""

from __future__ import annotations

from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.optimizer.codec import refs_key
from reflact.optimizer.journal import Journal
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.types import Evolution


async def evolve(evolution: Evolution, teacher: Teacher, journal: Journal) -> tuple[str | None, str | None]:
    """Have a search's prompt answered, once.

    Returns:
        (the reply, None), or (None, why there is none).
    """

    async def make() -> dict[str, Json]:
        try:
            return {"reply": await teacher.evolve(evolution), "cause": None}
        except TeacherFailure as failure:
            return {"reply": None, "cause": failure.cause}

    inputs = {
        "teacher": teacher.fingerprint,
        "skill": evolution.skill,
        "prompt": evolution.prompt,
        "seed": evolution.seed,
        "trajectories": refs_key(evolution.trajectories),
    }
    data = await journal.once("reflection", digest(inputs), make)
    return data["reply"], data["cause"]
