"""Models: the chat protocol, backends, attempts, limits, slots, usage, prices, budgets."""
