"""Benchmarks: data, task, score, prompts and initial skill, each in a folder of its own."""
