"""The names that files, tables and messages share; each set of names has its only home here."""

from __future__ import annotations

from enum import StrEnum


class RowStatus(StrEnum):
    """How one item ended. Only `ERROR` has no score, and only `ERROR` rows are run again."""

    OK = "ok"
    TIMEOUT = "timeout"
    EMPTY = "empty"
    REFUSED = "refused"
    ERROR = "error"


class Part(StrEnum):
    """A part of a split."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"


class Phase(StrEnum):
    """What a student call is for."""

    TRAIN = "train"
    SELECTION = "selection"
    TEST = "test"
    SLOW = "slow"


class Role(StrEnum):
    """Who calls a model."""

    STUDENT = "student"
    TEACHER = "teacher"


class Stage(StrEnum):
    """The stage of the loop that pays for a call."""

    BASELINE = "baseline"
    ROLLOUT = "rollout"
    REFLECT = "reflect"
    AGGREGATE = "aggregate"
    SELECT = "select"
    LEARNING_RATE = "learning_rate"
    REWRITE = "rewrite"
    GATE = "gate"
    SLOW_UPDATE = "slow_update"
    META_SKILL = "meta_skill"
    META_REFLECT = "meta_reflect"
    DEEP_REFLECT = "deep_reflect"
    FINAL_TEST = "final_test"
    EVALUATE = "evaluate"


class Action(StrEnum):
    """What a step (or an epoch-end update) did to the skill."""

    ACCEPT_NEW_BEST = "accept_new_best"
    ACCEPT = "accept"
    REJECT = "reject"
    FORCE_ACCEPT = "force_accept"
    SKIP_NO_PATCHES = "skip_no_patches"
    SKIP_NO_CHANGE = "skip_no_change"
    SKIP_NO_REWRITE = "skip_no_rewrite"


class RunState(StrEnum):
    """The state of a run, as every command names it."""

    PLANNED = "planned"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    STALE = "stale"
    REFUSED = "refused"
    ARCHIVED = "archived"


class StopCause(StrEnum):
    """Why a resumable run stopped."""

    BUDGET = "budget"
    RATE_LIMIT = "rate_limit"
    ERRORS = "errors"
    INTERRUPTED = "interrupted"


class StopReason(StrEnum):
    """Why a completed run ended its training (`summary.stop_reason`)."""

    COMPLETED = "completed"
    PATIENCE = "patience"
    PERFECT_SCORE = "perfect_score"
    BUDGET = "budget"
