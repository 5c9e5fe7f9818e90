"""Colours as people see them: contrast as WCAG defines it, the difference of two colours (CIE 1976), and what is
left of one without one of the three kinds of cones (Vienot, Brettel and Mollon 1999; for blue ones Machado 2009)."""
import re

# Rows give red, green and blue from linear red, green and blue.
EYES = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "deuteranopia": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.089)


def parse(text):
    """rgb(1, 2, 3) or rgba(1, 2, 3, 0.5): three of 0 to 255, and the opacity."""
    numbers = [float(n) for n in re.findall(r"[\d.]+", text)]
    return tuple(numbers[:3]) + (numbers[3] if len(numbers) > 3 else 1,) if len(numbers) >= 3 else (0, 0, 0, 0)


def linear(colour):
    return [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]


def times(matrix, vector):
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def contrast(x, y):
    light, dark = sorted((times(XYZ, linear(c))[1] for c in (x, y)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def seen_by(eyes, colour):
    """Its place in CIE Lab."""
    rgb = [min(1, max(0, c)) for c in times(EYES[eyes], linear(colour))]
    x, y, z = (f ** (1 / 3) if f > 0.008856 else 7.787 * f + 16 / 116 for f in (c / w for c, w in zip(times(XYZ, rgb), WHITE)))
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def distance(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y)) ** 0.5
