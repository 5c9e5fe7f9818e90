#!/usr/bin/env python3
"""A wheel of the Python package that carries libtirc and the libraries that it needs, LLVM's parts where the build made a
library of them (-Dllvm=own): usage: wheel.py BUILD FOLDER

BUILD is a build folder of meson; FOLDER gets tirc-VERSION-py3-none-PLATFORM.whl, whose name is printed. What is carried
lies in tirc/_libs, under names of its own, so that a process that has another version of libz keeps that. The system's C
library is not carried: the platform's name says which one is needed, after the symbols that are used of it. Written here
rather than by setuptools: there is nothing to compile, and the same files give the same bytes. Needs ldd, readelf, strip, patchelf.
"""

import base64
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from os import environ

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "tools" / "python"
OF_THE_SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread)|ld-linux.*)\.so\.\d+")  # one glibc


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def needed(library):
    """{name: path} of all libraries that are loaded with one, but the system's own."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+) ", output("ldd", library), re.M))
    return {name: pathlib.Path(path) for name, path in found.items() if not OF_THE_SYSTEM.fullmatch(name)}


def carried_name(name):
    """As long as the library's own, so that it fits where that stands: libz.so.1 is tirz.so.1."""
    return "tir" + name[3:]


def rename(data, names):
    """In the names that an ELF file needs, and in those that its versions of symbols are of: they share one string."""
    for name in names:
        data = data.replace(b"\0%s\0" % name.encode(), b"\0%s\0" % carried_name(name).encode())
    return data


def carry(libraries, folder):
    """Libraries and what they need, in a folder where they find each other; the paths that the needed ones were copied from."""
    others = {name: path for library in libraries for name, path in needed(library).items()}
    for name, path in {**others, **{library.name: library for library in libraries}}.items():
        to = folder / (carried_name(name) if name in others else name)
        to.write_bytes(rename(path.read_bytes(), others))
        to.chmod(0o755)
        for command in ["strip", "--strip-unneeded"], ["patchelf", "--set-rpath", "$ORIGIN"]:
            subprocess.run([*command, to], check=True)
    left = [p for library in libraries for p in needed(folder / library.name).values() if p.resolve().parent != folder.resolve()]
    if left:
        sys.exit("wheel: libraries that are not carried: %s" % ", ".join(map(str, left)))
    return list(others.values())


def platform(folder):
    """manylinux_2_36_x86_64: the newest version of glibc of which any library uses a symbol."""
    versions = {tuple(map(int, v)) for file in folder.iterdir()
                for v in re.findall(r"\bGLIBC_(\d+)\.(\d+)", output("readelf", "-VW", file))}
    return "manylinux_%d_%d_%s" % (*max(versions), output("uname", "-m").strip())


def licences(libraries, folder):
    """Debian's text of each library's licence."""
    for library in libraries:
        owner = subprocess.run(["dpkg-query", "-S", "*/" + library.resolve().name], capture_output=True, text=True).stdout
        package = owner.split(":")[0]
        text = pathlib.Path("/usr/share/doc") / package / "copyright"
        if package and text.exists():
            shutil.copy(text, folder / (package + ".txt"))
        else:
            print("wheel: no licence of %s is known" % library, file=sys.stderr)
    shutil.copy(SOURCE / "LICENSE", folder / "LICENSE")


def description(version):
    toml = (PACKAGE / "pyproject.toml").read_text()
    field = lambda key: re.search(r'^%s = "(.*)"$' % key, toml, re.M)[1]
    return ("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\nRequires-Python: %s\n"
            "Provides-Extra: arrays\nRequires-Dist: numpy; extra == 'arrays'\n"
            % (field("name"), version, field("description"), field("requires-python")))


def record_row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d\n" % (name, digest, len(data))


def pack(root, info, wheel):
    when = time.gmtime(max(int(environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]  # no zip is older than 1980
    rows = ""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as to:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            to.writestr(entry, data)

        for path in sorted(p for p in root.rglob("*") if p.is_file()):
            name, data = path.relative_to(root).as_posix(), path.read_bytes()
            add(name, data, 0o755 if path.parent.name == "_libs" and path.suffix != ".a" else 0o644)
            rows += record_row(name, data)
        add(info + "/RECORD", (rows + info + "/RECORD,,\n").encode(), 0o644)


def main(build, folder):
    for tool in "ldd", "readelf", "strip", "patchelf":
        if not shutil.which(tool):
            sys.exit("wheel: there is no %s; tools/setup --all installs it" % tool)
    build, folder = pathlib.Path(build), pathlib.Path(folder)
    version = json.loads(output("meson", "introspect", "--projectinfo", build))["version"]
    abi = re.search(r"^ABI = (\d+)$", (PACKAGE / "tirc" / "_lib.py").read_text(), re.M)[1]
    with tempfile.TemporaryDirectory() as scratch:
        root, info = pathlib.Path(scratch), "tirc-%s.dist-info" % version
        shutil.copytree(PACKAGE / "tirc", root / "tirc", ignore=shutil.ignore_patterns("__pycache__"))
        libs = root / "tirc" / "_libs"
        libs.mkdir()
        llvm = build / "libLLVM-tirc.so"
        copied = carry([build / ("libtirc.so." + abi)] + [llvm] * llvm.exists(), libs)
        tag = "py3-none-" + platform(libs)
        shutil.copy(build / "runtime" / "libtirc_rt.a", libs)  # for export_library
        (root / info / "licenses").mkdir(parents=True)
        licences(copied + [pathlib.Path(output("llvm-config-19", "--libdir").strip()) / "libLLVMCore.a"] * llvm.exists(), root / info / "licenses")
        (root / info / "METADATA").write_text(description(version))
        (root / info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: tirc\nRoot-Is-Purelib: false\nTag: %s\n" % tag)
        folder.mkdir(parents=True, exist_ok=True)
        wheel = folder / ("tirc-%s-%s.whl" % (version, tag))
        pack(root, info, wheel)
    print(wheel)


main(*sys.argv[1:])
