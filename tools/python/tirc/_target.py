"""Targets as text, with the reference's ways to ask them."""

import re
import threading

_stack = threading.local()
_KINDS = ("llvm", "c", "cuda", "opencl")


class TargetKind(str):
    """The first word of a target: llvm, cuda, opencl, c."""

    name = property(str)


class Target:
    """Target("llvm -mcpu=native -num-cores=4"), Target({"kind": "cuda", "arch": "sm_80"}), Target("nvidia/nvidia-t4"). Within
    `with target:` it is Target.current()."""

    def __init__(self, target="llvm", host=None):
        if target is None:
            raise TypeError("a target is text or a dict, not None")
        if isinstance(target, dict):
            host = target.get("host", host)
            flags = ["-%s=%s" % (k, ",".join(map(str, v)) if isinstance(v, (list, tuple)) else v) for k, v in target.items()
                     if k not in ("kind", "host", "tag")]
            target = " ".join([str(target.get("kind", target.get("tag", "llvm")))] + flags)
        self._text = str(target)
        self.host = Target(host) if host is not None and not isinstance(host, Target) else host
        if not self._text.strip():
            raise ValueError("a target is not empty: \"llvm\", \"llvm -mcpu=native\", \"cuda\"")

    @property
    def kind(self):
        first = self._text.split()[0]
        if first.startswith(("nvidia/", "sm_")):
            return TargetKind("cuda")
        return TargetKind(first if first in _KINDS else "llvm")

    @property
    def attrs(self):
        """What it says: {"mcpu": "haswell", "num-cores": 4}; "arch" of a GPU that is named."""
        found = {k: int(v) if re.fullmatch(r"-?\d+", v) else v for k, v in re.findall(r"-([a-z][\w-]*)[= ]([^\s]+)", self._text)}
        first = self._text.split()[0]
        if first.startswith("sm_"):
            found.setdefault("arch", first)
        elif first not in _KINDS and self.kind == "llvm":
            found.setdefault("mcpu", first)
        return found

    @property
    def keys(self):
        return ("cpu",) if self.kind in ("llvm", "c") else (str(self.kind), "gpu")

    arch = property(lambda self: self.attrs.get("arch", ""))
    mcpu = property(lambda self: self.attrs.get("mcpu", ""))
    max_num_threads = property(lambda self: int(self.attrs.get("max_num_threads", 1024)))
    thread_warp_size = property(lambda self: int(self.attrs.get("thread_warp_size", 32 if self.kind == "cuda" else 1)))

    def get(self, name, default=None):
        return self.attrs.get(name, default)

    def with_host(self, host):
        return Target(self._text, host)

    def export(self):
        """As a dict, which Target takes."""
        return {"kind": str(self.kind), **self.attrs, **({"host": self.host.export()} if self.host else {})}

    @staticmethod
    def current(allow_none=True):
        """That of the innermost `with`; None, or an error, where there is none."""
        active = getattr(_stack, "targets", [])
        if active:
            return active[-1]
        if allow_none:
            return None
        raise ValueError("no target is active: with Target(\"llvm\"): ...")

    @staticmethod
    def from_device(device):
        """The target of a device of this machine."""
        from ._device import device as device_of
        kind = device_of(device).type
        return Target("llvm -mcpu=native" if kind == "cpu" else kind)

    def __enter__(self):
        if not hasattr(_stack, "targets"):
            _stack.targets = []
        _stack.targets.append(self)
        return self

    def __exit__(self, *_):
        _stack.targets.pop()
        return False

    def __eq__(self, other):
        return isinstance(other, Target) and (self._text, self.host) == (other._text, other.host)

    def __hash__(self):
        return hash(self._text)

    def __str__(self):
        return self._text

    __repr__ = __str__
