"""Keys that say how a run is carried out: limits, budgets, display, simulation, sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reflact.config.fields import opt


@dataclass(slots=True)
class LimitsConfig:
    """Limits a (endpoint, deployment, credential), shared by all runs of a machine; 0 is none, the strictest holds."""

    max_concurrent_requests: int = opt(0, "Requests in flight.", low=0, free=True)
    requests_per_minute: int = opt(0, "Requests started within a minute.", low=0, free=True)
    tokens_per_minute: int = opt(0, "Tokens asked for within a minute.", low=0, free=True)
    adaptive: bool = opt(
        False, "Find the number of requests in flight: up with success, down with every 429.", free=True
    )
    hedge_after: float | None = opt(
        None, "Quantile of a phase's latency after which a call is sent again.", low=0.5, high=1, free=True
    )
    max_attempts: int = opt(
        6,
        "Attempts of one call; those answered with 429 are bounded by time instead, unless this is 1.",
        low=1,
        free=True,
    )
    backoff_s: float = opt(1.0, "First pause between attempts in seconds; it doubles, with jitter.", low=0, free=True)
    max_backoff_s: float = opt(60.0, "Longest pause of our own choosing in seconds.", low=0, free=True)
    max_retry_after_s: float = opt(
        600.0,
        "Longest Retry-After in seconds that is waited for, and longest time of nothing but 429.",
        low=0,
        free=True,
    )


@dataclass(slots=True)
class BudgetConfig:
    """What a run may spend; 0 is unlimited. Reaching it stops the run so that it can be resumed."""

    max_tokens: int = opt(0, "Tokens read and written.", low=0, free=True)
    max_usd: float = opt(0.0, "US dollars, where the price of every model is known.", low=0, free=True)


@dataclass(slots=True)
class PricingConfig:
    """Prices, set by the config group `pricing`."""

    models: dict[str, Any] = opt(dict, "US dollars a million tokens by model: {prompt, cached, completion}.", free=True)


@dataclass(slots=True)
class RunConfig:
    """The run directory."""

    resume: bool = opt(False, "Continue the run in this directory.", free=True)
    keep_workspaces: bool = opt(False, "Keep the agents' workspaces.", free=True)
    claim_timeout_s: float = opt(300.0, "Seconds without a heartbeat after which a claim is stale.", low=1, free=True)
    heartbeat_s: float = opt(15.0, "Seconds between heartbeats.", low=0.05, free=True)
    allow_code_change: bool = opt(False, "Resume a run that another code version began.", free=True)


@dataclass(slots=True)
class SweepConfig:
    """Sweeps (`--multirun`)."""

    plan: dict[str, Any] = opt(dict, "The named plan, set by the config group `sweep` (`+sweep=NAME`).", free=True)
    on_failure: str = opt("continue", "What a failed run does to the others.", choices=("continue", "stop"), free=True)
    existing: str = opt(
        "refuse",
        "What is done with directories that exist.",
        choices=("refuse", "skip_done", "resume"),
        free=True,
    )
    retries: int = opt(1, "Times that a failed run is resumed after the others.", low=0, free=True)
    keep_duplicates: bool = opt(False, "Run points that equal another one.", free=True)
    rehearse: bool = opt(False, "Run the plan with simulated models.", free=True)
    dry_run: bool = opt(False, "Print the plan and start nothing.", free=True)
    known_roots: list[str] = opt(list, "Other sweeps' roots whose runs are not planned again.", free=True)
    imports: str = opt("", "CSV file with older results; their points are not run, and stand in the tables.", free=True)
    only: list[str] = opt(list, "Run ids that are planned; empty is all.", free=True)
    exclude: list[str] = opt(list, "Run ids that are left out.", free=True)
    source_skills: str = opt(
        "",
        "Folder with the source skill of each benchmark (`<benchmark>.md` or `<benchmark>_best_skill.md`), for points "
        "of a plan that begin with one.",
        free=True,
    )
    max_parallel: dict[str, int] = opt(dict, "Most runs at once by benchmark.", free=True)
    max_run_s: float = opt(0.0, "Seconds that a run may take before it is stopped; 0 is unlimited.", low=0, free=True)
    grace_s: float = opt(
        30.0, "Seconds that a run has to save its state when it is stopped, before it is killed.", low=0.1, free=True
    )
    min_free_memory_gb: float = opt(0.0, "A start waits while less memory is free; 0 never waits.", low=0, free=True)
    max_tokens: int = opt(0, "Tokens of the whole sweep; 0 is unlimited.", low=0, free=True)
    max_usd: float = opt(0.0, "US dollars of the whole sweep; 0 is unlimited.", low=0, free=True)
    root: str = opt("", "Root of the sweep that a run belongs to; the sweep sets it.", free=True)


@dataclass(slots=True)
class ValidityConfig:
    """What makes a completed run unfit for a table."""

    max_empty_rate: float = opt(0.02, "Share of `empty` rows.", low=0, high=1, free=True)
    max_timeout_rate: float = opt(0.05, "Share of `timeout` rows.", low=0, high=1, free=True)
    max_refused_rate: float = opt(0.02, "Share of `refused` rows.", low=0, high=1, free=True)
    ignore: list[str] = opt(list, "Reasons that are declared harmless, such as `code_version`.", free=True)


@dataclass(slots=True)
class DisplayConfig:
    """What is seen while a run goes on."""

    mode: str = opt(
        "auto", "Live display, plain lines or nothing.", choices=("auto", "live", "plain", "off"), free=True
    )
    interval_s: float = opt(10.0, "Seconds between plain lines.", low=0.1, free=True)


@dataclass(slots=True)
class RehearsalConfig:
    """The simulated student and teacher."""

    seed: int = opt(0, "Seed of the simulation.")
    latency_s: float = opt(0.0, "Mean latency of a simulated call in seconds.", low=0)
    rate_limit_rate: float = opt(0.0, "Share of attempts answered with 429.", low=0, high=1)
    server_error_rate: float = opt(0.0, "Share of attempts answered with 500.", low=0, high=1)
    empty_rate: float = opt(0.0, "Share of empty replies.", low=0, high=1)
    useless_edit_rate: float = opt(0.3, "Share of the teacher's edits that help nothing.", low=0, high=1)


@dataclass(slots=True)
class LocalConfig:
    """The model in this process."""

    threads: int = opt(0, "Threads; 0 takes the machine's cores.", low=0, free=True)
    context: int = opt(2048, "Tokens of context.", low=256)
