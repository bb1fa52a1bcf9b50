"""Free memory is the least of what the machine and the container allow."""

import pytest

from reflact.config.schema import Config
from reflact.report import doctor_place
from reflact.report.doctor_place import available_gb


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   4000000 kB\n")
    return tmp_path


def test_the_machines_own(machine):
    assert available_gb(machine / "meminfo", machine) == pytest.approx(4.096)


def test_the_containers_limit_counts_if_it_is_lower(machine):
    (machine / "memory.max").write_text("1000000000\n")
    (machine / "memory.current").write_text("400000000\n")
    assert available_gb(machine / "meminfo", machine) == pytest.approx(0.6)
    (machine / "memory.max").write_text("max\n")
    assert available_gb(machine / "meminfo", machine) == pytest.approx(4.096)


def test_systems_that_do_not_say(tmp_path, monkeypatch):
    assert available_gb(tmp_path / "meminfo", tmp_path) is None
    monkeypatch.setattr(doctor_place, "available_gb", lambda: None)
    assert [check.level for check in doctor_place.check_memory(Config())] == ["warning"]


def test_many_simulators_need_more_than_there_is(monkeypatch):
    monkeypatch.setattr(doctor_place, "available_gb", lambda: 2.0)
    config = Config()
    config.benchmark.name, config.env.env_workers = "alfworld", 24
    (check,) = doctor_place.check_memory(config)
    assert check.level == "warning"
    assert "env.env_workers=24" in check.message
