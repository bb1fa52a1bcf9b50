"""How scored trajectories become a better skill: the stages around a teacher, and the pure functions between."""
