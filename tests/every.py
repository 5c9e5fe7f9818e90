"""What the usual run of the tests takes of long lists: each TIRC_TEST_EVERY-th, from the first one on; without it, all.

As a plugin of pytest (-p every): so many of each function's cases."""

import os

EVERY = int(os.environ.get("TIRC_TEST_EVERY", "1"))


def sample(items):
    return list(items)[::EVERY]


def pytest_collection_modifyitems(config, items):
    groups = {}
    for item in items:
        groups.setdefault((item.path, item.originalname), []).append(item)
    kept = {id(item) for group in groups.values() for item in sample(group)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]
