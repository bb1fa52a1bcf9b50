"""The commands. Thin: each parses its arguments, calls one function and prints."""
