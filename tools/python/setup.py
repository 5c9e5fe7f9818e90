"""The rest of pyproject.toml: the version is the one of the project, in ../../meson.build."""

import pathlib
import re

from setuptools import setup

PROJECT = pathlib.Path(__file__).resolve().parents[2] / "meson.build"
setup(version=re.search(r"^project\('tirc'.* version: '([^']+)'", PROJECT.read_text(), re.M)[1])
