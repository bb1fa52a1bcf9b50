"""The wire formats of the scripted server."""
