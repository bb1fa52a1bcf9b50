"""How a student does a task."""
