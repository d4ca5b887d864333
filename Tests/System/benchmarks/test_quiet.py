"""Which responses of a latency run count, and which were disturbed by other load."""

import array

import pytest

import quiet
from paced import Answers

USUAL = 0.005
"""Milliseconds that the work takes on an undisturbed core."""


def moments(first, last, late=0.02, took=USUAL):
    """Moments, one per millisecond."""
    return [((number + 0.5) / 1e3, late, took) for number in range(first, last)]


def answers(first, last, latency=1.0):
    """Answers, one due per millisecond."""
    due = array.array("d", ((number + 0.5) / 1e3 for number in range(first, last)))
    return Answers(due, array.array("d", [latency] * len(due)), cpu=0)


def disturbed(*numbers, of=100):
    return quiet.Quiet({number: 99.0 if number in numbers else 0.0 for number in range(of)})


def test_an_undisturbed_core_loses_nothing():
    assert set(quiet.losses(moments(0, 1000), USUAL).values()) == {0}


def test_a_late_moment_loses_its_interval():
    lost = quiet.losses(moments(0, 130) + moments(130, 150, late=0.3) + moments(150, 200), USUAL)
    assert lost == {0: 0, 1: pytest.approx(20)}


def test_a_slow_core_loses_in_proportion():
    assert quiet.losses(moments(0, 100, took=USUAL / 0.8), USUAL)[0] == pytest.approx(20)


def test_faster_work_does_not_compensate_for_slower_work():
    assert quiet.losses(moments(0, 50, took=USUAL / 2) + moments(50, 100, took=USUAL * 2), USUAL)[0] == pytest.approx(25)


def test_a_pause_counts_in_the_windows_that_it_spans():
    lost = quiet.losses([(0.32, 260.0, USUAL)], USUAL)
    assert lost == {0: pytest.approx(40), 1: pytest.approx(100), 2: pytest.approx(100), 3: pytest.approx(20)}


def test_a_window_is_quiet_up_to_the_tolerance():
    found = quiet.Quiet({0: quiet.TOLERATED, 1: quiet.TOLERATED + 0.1})
    assert found.all([0])
    assert not found.all([0, 1])


def test_a_window_without_a_watch_is_not_quiet():
    assert not quiet.Quiet({0: 0.0}).all([0, 1])


def test_without_any_watch_all_windows_are_quiet():
    assert quiet.Quiet().all(range(1000))


def test_undisturbed_answers_count():
    assert len(quiet.undisturbed(answers(1000, 3000), disturbed())) == 2000


def test_a_disturbance_spoils_the_window_before_and_half_a_second_after():
    found = quiet.undisturbed(answers(1000, 3000), disturbed(20))
    assert len(found) == 2000 - (1 + 1 + 5) * 100


def test_a_disturbance_before_the_first_request_does_not_count():
    assert len(quiet.undisturbed(answers(1000, 3000), disturbed(9))) == 2000


def test_an_answer_counts_regardless_of_its_latency():
    slow = quiet.undisturbed(answers(1000, 3000, latency=250.0), disturbed(20))
    assert set(slow) == {250.0}
    assert len(slow) == len(quiet.undisturbed(answers(1000, 3000), disturbed(20)))


def test_the_best_rate_is_computed_from_complete_windows():
    assert quiet.best_rate(answers(1050, 3050), disturbed()) == pytest.approx(1000)


def test_disturbed_windows_do_not_count_in_the_best_rate():
    held_up = answers(1000, 3000)
    late = array.array("d", (400.0 if 2.0 <= due < 2.3 else 1.0 for due in held_up.due))
    held_up = Answers(held_up.due, late, cpu=0)
    assert quiet.best_rate(held_up, disturbed(20, 21, 22, 23, 24, 25, 26, 27)) == pytest.approx(1000, rel=0.02)


def test_a_pause_of_the_server_itself_lowers_its_best_rate():
    found = answers(1000, 3000)
    late = array.array("d", (2e4 if 2.0 <= due < 2.3 else 1.0 for due in found.due))
    assert quiet.best_rate(Answers(found.due, late, cpu=0), disturbed(of=300)) == pytest.approx(1000 * 16 / 19, rel=0.02)


def test_the_best_rate_is_unknown_if_the_machine_was_hardly_quiet():
    assert quiet.best_rate(answers(1000, 3000), disturbed(*range(10, 21))) is None
