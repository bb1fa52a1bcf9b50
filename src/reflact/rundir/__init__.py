"""The run directory: who owns it, where everything is, and how it is written so that nothing is lost."""
