"""Responders that play a student and a teacher well enough for whole training runs through a real client."""

from reflact.testing.brains.book import Known
from reflact.testing.brains.brain import Brain
from reflact.testing.brains.fabricate import fabricate
from reflact.testing.brains.student import Student
from reflact.testing.brains.teacher import Teacher

__all__ = ["Brain", "Known", "Student", "Teacher", "fabricate"]
