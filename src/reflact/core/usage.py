"""Token counts of model calls."""

from __future__ import annotations

from dataclasses import asdict, dataclass

_MOST_TOKENS = 1_000_000_000
"""More than any one reply can have cost; a larger count is nonsense that would end every budget at once."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls consumed, in tokens; `prompt_tokens` includes the cached ones.

    Attributes:
        calls: Calls that gave an answer.
        failed_calls: Attempts that gave none (each counts once, also when a retry succeeded).
        prompt_tokens: Tokens read, cached ones included.
        cached_tokens: The part of `prompt_tokens` that the provider served from its cache.
        completion_tokens: Tokens written, hidden reasoning included.
        reasoning_tokens: The part of `completion_tokens` that was hidden reasoning.
        estimated_tokens: The part of tokens read and written that no service counted: it is estimated from texts.
    """

    calls: int = 0
    failed_calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    estimated_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.failed_calls + other.failed_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.estimated_tokens + other.estimated_tokens,
        )

    @classmethod
    def reported(cls, prompt: object, cached: object, completion: object, reasoning: object) -> Usage:
        """Return the usage of one answered call from what a service said of it.

        Services leave counts out or send nonsense. A count that cannot be one is taken as not said, and a part is never
        more than the whole, so that a sum of usages never falls and a budget cannot be got round.

        Args:
            prompt: Tokens read, as the service said it; of any type, like the others.
            cached: The part of them from its cache.
            completion: Tokens written.
            reasoning: The part of them that was hidden reasoning.
        """
        read, written = counted(prompt), counted(completion)
        return cls(
            calls=1,
            prompt_tokens=read,
            cached_tokens=min(counted(cached), read),
            completion_tokens=written,
            reasoning_tokens=min(counted(reasoning), written),
        )

    def to_json(self) -> dict[str, int]:
        """Return the counts as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, int]) -> Usage:
        """Read counts written by `to_json`; unknown keys are ignored."""
        return cls(**{name: int(data.get(name, 0)) for name in cls.__slots__})


def counted(value: object) -> int:
    """Return a count that a service or a program gave, 0 if it cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        return 0
    return int(value)
