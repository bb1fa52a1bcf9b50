"""Programs that open workbooks: they run in limited children, never in the process of a run."""
