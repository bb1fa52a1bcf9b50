"""Types that every layer shares: errors with exit codes, names of states, rows and usage."""
