"""Some of the cases of random_indices.py; it runs as many as one likes."""

import pytest
from random_indices import run


@pytest.mark.parametrize("first", range(1, 121, 10))
def test_random_indices(first, tmp_path):
    for seed in range(first, first + 10):
        run(seed, tmp_path)
