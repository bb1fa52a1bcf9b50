"""Making small games: rooms by seed, their PDDL, files, and the proof that they can be won."""
