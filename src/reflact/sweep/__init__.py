"""Many runs: planning, launching, keeping the books."""
