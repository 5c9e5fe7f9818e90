"""tirc.tir.schedule.schedule: where the reference keeps the class."""

from . import *
from . import __all__
