"""Scripts of a rehearsal that need not be run again: whatever nobody has run before is really run."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata

from reflact.benchmarks.recall import Recall
from reflact.benchmarks.spreadsheetbench.casefiles import CaseFiles
from reflact.benchmarks.spreadsheetbench.form import cases_of
from reflact.benchmarks.spreadsheetbench.inside.compare import UNREADABLE
from reflact.benchmarks.spreadsheetbench.workshop import Ran, Verdict, Workshop
from reflact.core.types import Item, Json


@dataclass(frozen=True, slots=True)
class RecalledWorkshop(Workshop):
    """A workshop that remembers what simulated students' scripts made, and how it was judged.

    Attributes:
        recall: What is known.
    """

    recall: Recall = field(kw_only=True)

    async def run(self, item: Item, case: CaseFiles, code: str) -> Ran:
        """Run a script on one case."""
        key = ["run", case.input_sha256, code]
        known = self.recall.get(key)
        if known is not None:
            produced = known["produced"]
            return Ran(None if produced is None else base64.b64decode(produced), known["problem"])
        ran = await Workshop.run(self, item, case, code)
        produced = None if ran.produced is None else base64.b64encode(ran.produced).decode("ascii")
        self.recall.put(key, {"produced": produced, "problem": ran.problem}, lasting=not ran.ended)
        return ran

    async def judge(self, item: Item, runs: Sequence[Ran]) -> tuple[Verdict, ...]:
        """Compare what was produced with the references."""
        pairs = zip(cases_of(item)[: len(runs)], runs, strict=True)
        key = ["judge", item.data["answer_position"], [_judged(case, ran) for case, ran in pairs]]
        known = self.recall.get(key)
        if known is not None:
            return tuple(Verdict(**{**data, "recalculated": tuple(data["recalculated"])}) for data in known)
        verdicts = await Workshop.judge(self, item, runs)
        sure = not any(verdict.state == UNREADABLE or verdict.not_recalculated for verdict in verdicts)
        lasting = sure and not any(ran.ended for ran in runs)
        self.recall.put(key, [asdict(verdict) for verdict in verdicts], lasting=lasting)
        return verdicts

    async def preview(self, item: Item) -> str:
        """Return what the first case's input looks like."""
        key = ["preview", cases_of(item)[0].input_sha256]
        known = self.recall.get(key)
        if known is None:
            known = await Workshop.preview(self, item)
            self.recall.put(key, known)
        return str(known)

    async def reference_problems(self, items: Sequence[Item]) -> Mapping[str, str]:
        """Return the ids of items with a reference that cannot be compared, and why."""
        key = ["references", [[item.id, item.data["answer_position"], item.data["cases"]] for item in items]]
        known = self.recall.get(key)
        if known is None:
            known = dict(await Workshop.reference_problems(self, items))
            self.recall.put(key, known)
        return dict(known)


def program_versions() -> dict[str, str]:
    """Return the versions of what opens workbooks."""
    return {"openpyxl": metadata.version("openpyxl")}


def _judged(case: CaseFiles, ran: Ran) -> Json:
    produced = None if ran.produced is None else base64.b64encode(ran.produced).decode("ascii")
    return [case.golden_sha256, produced, ran.problem]
