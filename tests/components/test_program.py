"""What a program calls at its top."""

import pytest

import components


def test_a_call_that_older_projects_have_says_that_it_can_go():
    with pytest.warns(DeprecationWarning, match="end_plainly\\(\\) has no effect any more; remove the call"):
        components.end_plainly()
