"""Pictures of the playground, each compared with a kept one: what stands where, and in which colours.

They are half as large as the page, so that how a line's edge is drawn hardly counts. --keep writes them anew into
tests/page/kept; look at them before you commit them."""
import base64
import collections
import os
import struct
import sys
import zlib

from play import ROOT, SMALL, read, set_texts, settled

KEPT = os.path.join(ROOT, "tests/page/kept")
SIZES = ((1366, 768), (390, 844))
MOST = 0.02  # of the pixels may differ
KEEP = "--keep" in sys.argv


def example(b, name):
    b.run("openItem('example/' + arguments[0]); return 1", name)
    settled(b)


def lesson(b):
    b.run("openItem('lesson/' + shelf.lessons[0].name); return 1")
    b.wait("document.querySelectorAll('#verdicts li.no').length")
    settled(b)


def error(b):
    set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.fuse(i, k)\n')


def cache(b):
    set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.reorder(k, i, j)\n')
    b.run("showTime(Math.round(document.getElementById('time').max / 3)); return 1")


def threads(b):
    example(b, "parallel_vec")
    b.run("document.getElementById('of').selectedIndex = 1; document.getElementById('of').dispatchEvent(new Event('change')); return 1")


def emulator(b):
    set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.bind(i, "blockIdx.x")\nsch.bind(j, "threadIdx.x")\n')
    b.click("[data-pane=emulated]")
    b.wait("document.getElementById('emulated').textContent.includes('No race')")


def moves(b):
    set_texts(b, read(SMALL), "")
    b.click("[data-pane=moves]")
    b.wait("document.querySelectorAll('#moves button').length > 5")


STATES = {"program": lambda b: set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.split(j, factors=[None, 4])\n'),
          "error": error, "lesson": lesson, "cache": cache, "threads": threads, "emulator": emulator,
          "array": lambda b: example(b, "weight_stationary"), "next": moves}


# --- one picture -----------------------------------------------------------------------------

def take(b, width, height, theme):
    """All of the page, as a PNG in base64."""
    b.command("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    b.run("theme(arguments[0]); document.activeElement.blur(); document.getElementById('ready').value = ''; scrollTo(0, 0); fitArrays(); return 1", theme)
    tall = b.run("document.documentElement.scrollHeight")
    shot = {"format": "png", "captureBeyondViewport": tall > height, "clip": {"x": 0, "y": 0, "width": width, "height": max(tall, height), "scale": 0.5}}
    return b.command("Page.captureScreenshot", shot)["data"]


# The pixels of PNGs, by the browser, which knows how to read them.
LOAD = """
  window.pixels = async data => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + data;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  window.differ = async (a, b) => {
    const [x, y] = [await pixels(a), await pixels(b)];
    if (x.width !== y.width || x.height !== y.height) return `${x.width} x ${x.height}, kept: ${y.width} x ${y.height}`;
    let n = 0;
    for (let i = 0; i < x.data.length; i += 4)
      n += Math.max(Math.abs(x.data[i] - y.data[i]), Math.abs(x.data[i + 1] - y.data[i + 1]), Math.abs(x.data[i + 2] - y.data[i + 2])) > 56;
    return n / (x.width * x.height);
  };
  return 1;"""


def asked(b, expression, *args):
    """What a promise comes to, in a page of its own that may read data."""
    b.run("window.answer = undefined; (%s).then(r => { window.answer = r; }, e => { window.answer = String(e); }); return 1" % expression, *args)
    b.wait("window.answer !== undefined", 120)
    return b.run("return window.answer")


def keep(viewer, data, path):
    """With a palette of 32 colours."""
    width, height, text = asked(viewer, "pixels(arguments[0]).then(p => [p.width, p.height, btoa(Array.from(p.data, c => String.fromCharCode(c)).join(''))])", data)
    rgba = base64.b64decode(text)
    coarse = bytes(c & 0xf8 | c >> 5 for c in range(256))
    colours = list(zip(*(rgba[i::4].translate(coarse) for i in range(3))))
    counted = collections.Counter(colours)
    palette = [c for c, _ in counted.most_common(32)]
    nearest = {c: min(range(len(palette)), key=lambda k: sum((x - y) ** 2 for x, y in zip(palette[k], c))) for c in counted}
    indices = bytes(map(nearest.__getitem__, colours))
    rows = b"".join(b"\0" + indices[y * width:(y + 1) * width] for y in range(height))
    chunk = lambda name, body: struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    os.makedirs(KEPT, exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
                + chunk(b"PLTE", b"".join(map(bytes, palette))) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def kept(name, width, theme):
    return os.path.join(KEPT, "%s-%d-%s.png" % (name, width, theme))


def check(b, viewer, names=None):
    """Each state, at two sizes, light and dark: where one picture of it is kept, all are."""
    themes = ("light", "dark")
    viewer.request("POST", "/url", {"url": "about:blank"})
    viewer.run(LOAD)
    wrong = []
    known = [n for n in names or STATES if KEEP or any(os.path.exists(kept(n, width, theme)) for width, _ in SIZES for theme in themes)]
    if len(known) < len(names or STATES):
        print("no picture is kept of:", ", ".join(n for n in names or STATES if n not in known))
    for name in known:
        b.run("openItem('example/' + shelf.examples[0].name); return 1")  # whatever was there before
        settled(b)
        STATES[name](b)
        for width, height in SIZES:
            for theme in themes:
                path = kept(name, width, theme)
                data = take(b, width, height, theme)
                if KEEP:
                    keep(viewer, data, path)
                    continue
                if not os.path.exists(path):
                    wrong.append((os.path.basename(path), "is not kept"))
                    continue
                with open(path, "rb") as f:
                    old = base64.b64encode(f.read()).decode()
                differs = asked(viewer, "differ(arguments[0], arguments[1])", data, old)
                if not isinstance(differs, (int, float)) or differs > MOST:
                    wrong.append((os.path.basename(path), differs))
        b.command("Emulation.setDeviceMetricsOverride", {"width": 1366, "height": 768, "deviceScaleFactor": 1, "mobile": False})
        b.run("theme('light'); showPane('tree'); return 1")
    assert not wrong, wrong
