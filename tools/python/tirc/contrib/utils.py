"""tirc.contrib.utils: folders for a while."""

import os
import shutil
import tempfile


class TempDirectory:
    """A folder that is removed with the object: path, relpath("name"), listdir(), remove()."""

    def __init__(self, custom_path=None):
        self.path = custom_path or tempfile.mkdtemp(prefix="tirc")
        os.makedirs(self.path, exist_ok=True)

    def relpath(self, name):
        return os.path.join(self.path, name)

    def listdir(self):
        return os.listdir(self.path)

    def remove(self):
        if self.path:
            shutil.rmtree(self.path, ignore_errors=True)
            self.path = None

    def __del__(self):
        if shutil is not None:
            self.remove()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()
        return False


def tempdir(custom_path=None):
    """A new folder inside the folder for temporary files."""
    return TempDirectory(custom_path)


__all__ = ["TempDirectory", "tempdir"]
