"""Programs and traces in colour: ANSI on a terminal, HTML in a notebook."""

import html
import os
import re
import sys

_TOKENS = re.compile(r"""
    (?P<comment>\#[^\n]*) | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*') |
    (?P<decorator>@[\w.]+) | (?P<number>\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b) |
    (?P<keyword>\b(?:def|class|for|in|with|if|else|while|assert|and|or|not|return|True|False|None|lambda)\b) |
    (?P<name>\b(?:T|I|sch)\.\w+(?:\.\w+)*)
""", re.X)
_ANSI = {"comment": "90", "string": "32", "decorator": "35", "number": "36", "keyword": "34;1", "name": "33"}
_CSS = {"comment": "#888", "string": "#2a7d2a", "decorator": "#8a2a8a", "number": "#1a7a8a",
        "keyword": "#1a4acc", "name": "#996600"}


def ansi(text):
    return _TOKENS.sub(lambda m: "\033[%sm%s\033[0m" % (_ANSI[m.lastgroup], m.group()), text)


def as_html(text):
    out, last = [], 0
    for m in _TOKENS.finditer(text):
        out += [html.escape(text[last:m.start()]),
                '<span style="color:%s">%s</span>' % (_CSS[m.lastgroup], html.escape(m.group()))]
        last = m.end()
    out.append(html.escape(text[last:]))
    return '<pre style="line-height:1.25">%s</pre>' % "".join(out)


def table_html(head, rows):
    """A table; numbers stand to the right."""
    cells = lambda kind, row: "".join('<%s style="text-align:%s">%s</%s>' % (kind, "right" if i else "left", html.escape(str(x)), kind)
                                      for i, x in enumerate(row))
    return "<table><tr>%s</tr>%s</table>" % (cells("th", head), "".join("<tr>%s</tr>" % cells("td", row) for row in rows))


def diff_html(text):
    """Lines with - and + in two colours."""
    colours = {"-": "#b02a2a", "+": "#2a7d2a", "@": "#888"}
    lines = ['<span style="color:%s">%s</span>' % (colours.get(line[:1], "inherit"), html.escape(line)) for line in text.split("\n")]
    return '<pre style="line-height:1.25">%s</pre>' % "\n".join(lines)


def _notebook():
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def show(text):
    """Prints; coloured where a person reads it."""
    if _notebook():
        from IPython.display import HTML, display
        display(HTML(as_html(text)))
        return
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    print(ansi(text) if colour else text)


class Shown:
    """What has a script(), can show it, and renders itself in a notebook."""

    def show(self, style=None, black_format=None, **options):
        show(self.script(**options).rstrip("\n"))

    def _repr_html_(self):
        return as_html(self.script())

    def __str__(self):
        return self.script()
