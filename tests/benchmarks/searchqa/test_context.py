from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.searchqa.context import CUT_MARK, cut_context

contexts = st.lists(st.sampled_from(["[DOC]", "[PAR]", " ", "word", "x" * 40, "李"]), max_size=30).map("".join)


@given(contexts, st.integers(20, 200))
def test_the_cut_is_the_longest_run_of_whole_documents(context: str, limit: int) -> None:
    cut = cut_context(context, limit)
    assert len(cut) <= limit
    if len(context) <= limit:
        assert cut == context
        return
    starts = [match.start() for match in re.finditer(re.escape("[DOC]"), context)]
    fitting = [context[:start].rstrip() for start in starts if 0 < len(context[:start].rstrip()) <= limit]
    wanted = max((text for text in fitting if text.strip()), key=len, default=None)
    assert cut == (wanted if wanted is not None else context[: limit - len(CUT_MARK)] + CUT_MARK)


def test_by_hand() -> None:
    context = "[DOC] one [DOC] two [DOC] three"
    assert cut_context(context, 31) == context
    assert cut_context(context, 30) == "[DOC] one [DOC] two"
    assert cut_context(context, 19) == "[DOC] one [DOC] two"
    assert cut_context(context, 18) == "[DOC] one"
    assert cut_context("[DOC] " + "y" * 100, 50) == ("[DOC] " + "y" * 100)[:44] + " [cut]"
