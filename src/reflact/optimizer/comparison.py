"""Items under two skills: what slow update and meta skill learn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reflact.core.errors import ConfigError
from reflact.core.hashing import text_digest
from reflact.core.types import Json
from reflact.optimizer.types import Comparison, Pair, PairKind, TrajectoryRef

_CHANGED = frozenset({PairKind.IMPROVED, PairKind.REGRESSED})


def pair_kind(prev_hard: float, curr_hard: float) -> PairKind:
    """Return how an item went: a failure is `hard == 0`, everything above is a success."""
    if prev_hard == 0:
        return PairKind.PERSISTENT_FAIL if curr_hard == 0 else PairKind.IMPROVED
    return PairKind.REGRESSED if curr_hard == 0 else PairKind.STABLE_SUCCESS


def classify(previous: Iterable[TrajectoryRef], current: Iterable[TrajectoryRef]) -> tuple[Pair, ...]:
    """Pair trajectories by id, in the order of `current`.

    An item that has no score under one of the skills has no trajectory there, and so makes no pair.
    """
    former = {ref.id: ref for ref in previous}
    return tuple(
        Pair(ref.id, pair_kind(former[ref.id].hard, ref.hard), former[ref.id], ref)
        for ref in current
        if ref.id in former
    )


def keep(policy: str, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return the pairs that `optimizer.longitudinal_pair_policy` lets through, in order.

    `mixed` keeps all, `changed` the improved and regressed ones, `unchanged` the others.

    Raises:
        ConfigError: The policy is unknown.
    """
    if policy == "mixed":
        return tuple(pairs)
    if policy in ("changed", "unchanged"):
        return tuple(pair for pair in pairs if (pair.kind in _CHANGED) == (policy == "changed"))
    raise ConfigError(f"optimizer.longitudinal_pair_policy={policy}: allowed are mixed, changed, unchanged")


def pairs_of(comparison: Comparison, *kinds: PairKind) -> tuple[Pair, ...]:
    """Return the pairs of some kinds, kind by kind."""
    return tuple(pair for kind in kinds for pair in comparison.pairs if pair.kind is kind)


def comparison_key(comparison: Comparison) -> dict[str, Json]:
    """Return everything of a comparison that can shape a reply."""
    return {
        "previous": text_digest(comparison.previous_skill),
        "current": text_digest(comparison.current_skill),
        "pairs": pairs_to_json(comparison.pairs),
    }


def pairs_to_json(pairs: Sequence[Pair]) -> list[dict[str, Json]]:
    """Return what `comparison_pairs.json` holds of pairs."""
    return [
        {
            "id": pair.id,
            "kind": pair.kind.value,
            "prev": {"hard": pair.previous.hard, "digest": pair.previous.digest},
            "curr": {"hard": pair.current.hard, "digest": pair.current.digest},
        }
        for pair in pairs
    ]
