"""Williams' test of two correlations with the same truth. Stage: cell."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from refless.errors import SettingError


def williams(r_a: float, r_b: float, r_ab: float, n: int) -> tuple[float, float]:
    """Williams' test that two dependent correlations, which share a variable, are the same.

    With t of n - 3 degrees of freedom,

        t = (r_a - r_b) sqrt((n - 1) (1 + r_ab))
            / sqrt(2 K (n - 1) / (n - 3) + ((r_a + r_b) / 2)^2 (1 - r_ab)^3)
        K = 1 - r_a^2 - r_b^2 - r_ab^2 + 2 r_a r_b r_ab

    Parameters
    ----------
    r_a, r_b : correlations of two predictions with the same truth, in [-1, 1]
    r_ab : correlation of the two predictions with each other
    n : number of candidates behind all three

    Returns
    -------
    t : positive where ``r_a`` is the greater; infinite where nothing is left to chance
    p : two-sided; both are NaN for n < 4 or where a correlation is NaN

    Raises
    ------
    SettingError : a correlation outside [-1, 1], or three that no data can have (K < 0).

    Source: Williams (1959), "The comparison of regression variables", in the form of Graham &
    Baldwin (2014), "Testing for significance of increased correlation with human judgment".
    """
    given = np.array([r_a, r_b, r_ab], np.float64)
    k = 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab
    # K is the determinant of the three variables' correlations; a hair is rounding
    if (np.abs(given) > 1 + 1e-12).any() or k < -1e-9:
        raise SettingError(f"no three variables have the correlations {r_a}, {r_b} and {r_ab}")
    if n < 4 or np.isnan(given).any():
        return float("nan"), float("nan")
    if abs(r_a - r_b) < 1e-12:  # equal but for rounding, which 0 / 0 would blow up
        return 0.0, 1.0
    spread = 2 * max(k, 0.0) * (n - 1) / (n - 3)
    spread += ((r_a + r_b) / 2) ** 2 * max(1 - r_ab, 0.0) ** 3
    top = (r_a - r_b) * np.sqrt((n - 1) * max(1 + r_ab, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = float(np.float64(top) / np.sqrt(spread))
    return t, float(2 * stdtr(n - 3, -abs(t)))
