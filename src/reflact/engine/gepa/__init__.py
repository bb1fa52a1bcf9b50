"""The method `gepa`: the search of the package of that name, through our harness, budget and record."""
