"""Questions that go on which were not judged are a doubt, but for those that nobody supports."""

from __future__ import annotations

from collections import Counter

from conform.runs.followed.followed_counts import FollowedCounts


def test_unsupported_questions_are_no_doubt_when_others_were_judged():
    counts = FollowedCounts(Counter(conforms=3, unsupported=1))
    assert counts.tell_unjudged() == ""
    assert counts.json()["verdicts"] == {"conforms": 3, "unsupported": 1}


def test_questions_that_timed_out_are_a_doubt():
    counts = FollowedCounts(Counter(conforms=3, timeout=2, unsupported=1))
    said = counts.tell_unjudged()
    assert said == "of the questions that go on some were not judged: 2 timeout"
