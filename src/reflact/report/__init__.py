"""What a person looks at: progress of runs, their state, their results, and what to check before one starts."""
