"""A p as people read it beside the level that it was compared with."""


def printed_p(p: float, level: float) -> str:
    """A p to two digits; to as many more as it takes to be on its own side of a level.

    >>> printed_p(0.0312, 0.05), printed_p(0.0497, 0.05), printed_p(0.04996, 0.05)
    ('0.031', '0.0497', '0.04996')
    >>> printed_p(0.05, 0.05), printed_p(0.0501, 0.05)
    ('0.05', '0.05')
    """
    for digits in range(2, 18):
        text = f"{p:.{digits}g}"
        if (float(text) < level) == (p < level):
            break
    return text
