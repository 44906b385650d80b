"""A p is printed on the side of the level on which it was compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.statistics.printed_p import printed_p


@pytest.mark.parametrize("p", [0.0496, 0.04999999, 0.05, 0.0504, 0.2, 1e-9, 0.9999])
def test_what_is_printed_says_what_was_decided(p):
    assert (float(printed_p(p, 0.05)) < 0.05) == (p < 0.05)


@given(st.floats(0, 1))
def test_no_p_is_printed_beyond_the_level_and_most_have_two_digits(p):
    text = printed_p(p, 0.05)
    assert (float(text) < 0.05) == (p < 0.05)
    if not 0.0495 <= p <= 0.0505:
        assert text == f"{p:.2g}"
