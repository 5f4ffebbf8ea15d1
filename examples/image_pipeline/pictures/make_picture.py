#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renders harbour.png: an evening bay with mountains, clouds, a boat and the sun on the water.

Needs nothing but Python's standard library; the same picture comes out every time.
"""

import math
import struct
import sys
import zlib
from pathlib import Path

WIDTH, HEIGHT = 640, 480
HORIZON = 286.0
SUN_X, SUN_Y, SUN_RADIUS = 418.0, 238.0, 15.0


# --- noise ---------------------------------------------------------------------------------------


def lattice(x, y, seed):
    """A reproducible pseudo-random number in [0, 1) for a point of the integer grid."""
    h = (x * 374761393 + y * 668265263 + seed * 2246822519) & 0xFFFFFFFF
    h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 2654435761) & 0xFFFFFFFF
    return (h ^ (h >> 16)) / 4294967296.0


def value_noise(x, y, seed):
    ix, iy = math.floor(x), math.floor(y)
    fx, fy = x - ix, y - iy
    fx = fx * fx * fx * (fx * (fx * 6 - 15) + 10)
    fy = fy * fy * fy * (fy * (fy * 6 - 15) + 10)
    a, b = lattice(ix, iy, seed), lattice(ix + 1, iy, seed)
    c, d = lattice(ix, iy + 1, seed), lattice(ix + 1, iy + 1, seed)
    return (a + (b - a) * fx) * (1 - fy) + (c + (d - c) * fx) * fy


def fbm(x, y, seed, octaves, gain=0.5):
    total, amplitude, norm = 0.0, 1.0, 0.0
    for octave in range(octaves):
        total += amplitude * value_noise(x, y, seed + octave)
        norm += amplitude
        amplitude *= gain
        # Turn each octave a little: the grid must not show.
        x, y = 1.6 * x + 1.2 * y + 17.3, -1.2 * x + 1.6 * y + 5.1
    return total / norm


def ridged(x, y, seed, octaves):
    total, amplitude, norm, weight = 0.0, 1.0, 0.0, 1.0
    for octave in range(octaves):
        n = 1.0 - abs(2.0 * value_noise(x, y, seed + octave) - 1.0)
        n *= n * weight
        weight = min(1.0, 2.0 * n)
        total += amplitude * n
        norm += amplitude
        amplitude *= 0.5
        x, y = 2.03 * x + 3.1, 2.03 * y + 7.7
    return total / norm


# --- colours -------------------------------------------------------------------------------------


def clamp01(v):
    return 0.0 if v < 0.0 else 1.0 if v > 1.0 else v


def smoothstep(low, high, v):
    t = clamp01((v - low) / (high - low))
    return t * t * (3 - 2 * t)


def mix(a, b, t):
    return (a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t)


def add(a, b, scale=1.0):
    return (a[0] + b[0] * scale, a[1] + b[1] * scale, a[2] + b[2] * scale)


SKY = [  # height above the horizon, 0 to 1, and linear colour
    (0.00, (0.98, 0.50, 0.20)),
    (0.10, (0.88, 0.42, 0.25)),
    (0.28, (0.52, 0.33, 0.36)),
    (0.55, (0.20, 0.24, 0.42)),
    (1.00, (0.055, 0.10, 0.27)),
]


def sky_gradient(y):
    h = clamp01((HORIZON - y) / HORIZON)
    for (h0, c0), (h1, c1) in zip(SKY, SKY[1:]):
        if h <= h1:
            return mix(c0, c1, (h - h0) / (h1 - h0))
    return SKY[-1][1]


def sun_glow(x, y):
    d = math.hypot(x - SUN_X, (y - SUN_Y) * 1.15)
    glow = 0.55 * math.exp(-d / 34.0) + 0.30 * math.exp(-d / 130.0)
    return glow, d


def sky(x, y):
    colour = sky_gradient(y)
    glow, d = sun_glow(x, y)
    colour = add(colour, (1.0, 0.52, 0.20), glow)

    # A flat layer of cloud, seen in perspective: features shrink towards the horizon.
    distance = 60.0 / (HORIZON - y + 26.0)
    u, v = (x - WIDTH / 2) * distance / 85.0 + 4.0, 7.0 * distance
    warp = fbm(u * 0.9 + 9.0, v * 1.3, 300, 3)
    density = fbm(u * 1.15 + warp * 1.3, v * 2.3 + warp, 100, 6, 0.55)
    h = (HORIZON - y) / HORIZON
    cover = smoothstep(0.47, 0.72, density + 0.05 * smoothstep(0.3, 0.9, h))
    cover *= smoothstep(0.02, 0.20, h) * 0.92
    # Lit from below and from the sun's side: compare with the density a step towards the sun.
    side = 0.10 * max(-1.0, min(1.0, (SUN_X - x) / 150.0))
    step = fbm(u * 1.15 + warp * 1.3 + side, v * 2.3 + warp + 0.16, 100, 4, 0.55)
    lit = clamp01(0.45 + 3.6 * (density - step)) * (0.40 + 0.75 * math.exp(-d / 240.0))
    shade = mix((0.15, 0.125, 0.20), (0.30, 0.19, 0.22), 1 - h)
    cloud = add(shade, (1.10, 0.52, 0.26), lit)
    colour = mix(colour, cloud, cover)

    disc = smoothstep(SUN_RADIUS + 1.0, SUN_RADIUS - 1.0, math.hypot(x - SUN_X, y - SUN_Y))
    return mix(colour, (2.6, 2.0, 1.15), disc * (1 - 0.6 * cover))


# --- mountains -----------------------------------------------------------------------------------


class Range:
    """One chain of mountains: its skyline, its colour and how much haze lies before it."""

    def __init__(self, seed, base, height, scale, rock, haze, envelope):
        self.seed, self.scale, self.rock, self.haze = seed, scale, rock, haze
        self.skyline = []
        for x in range(WIDTH):
            peak = ridged(x / scale, seed * 0.37, seed, 6) * height * envelope(x)
            self.skyline.append(base - peak)

    def colour(self, x, y):
        # Slopes: a gradient of ridged noise, lit from the sun's side.
        depth = y - self.skyline[int(x)]
        u, v = x / (self.scale * 0.30) + depth * 0.013, y / (self.scale * 0.22)
        here = ridged(u, v, self.seed + 40, 5)
        side = 0.07 * max(-1.0, min(1.0, (SUN_X - x) / 60.0))
        there = ridged(u + side, v, self.seed + 40, 5)
        light = clamp01(0.42 + 3.0 * (here - there))
        rock = add(self.rock, (0.62, 0.28, 0.13), light * 0.28 * (1.2 - self.haze))
        glow, _ = sun_glow(x, y)
        haze = add((0.36, 0.21, 0.24), (0.85, 0.42, 0.16), glow)
        thickness = clamp01(self.haze + 0.0022 * depth + 0.35 * glow)
        return mix(rock, haze, thickness)


def bump(x, centre, width):
    return math.exp(-(((x - centre) / width) ** 2))


RANGES = [
    Range(11, HORIZON + 2, 118, 150.0, (0.13, 0.11, 0.18), 0.44,
          lambda x: 0.40 + 0.65 * bump(x, 170, 170) + 0.35 * bump(x, 600, 120)),
    Range(23, HORIZON + 2, 104, 105.0, (0.070, 0.062, 0.10), 0.17,
          lambda x: 0.20 + 0.95 * bump(x, 40, 150) + 0.75 * bump(x, 660, 90)),
    Range(37, HORIZON + 2, 62, 64.0, (0.030, 0.032, 0.045), 0.07,
          lambda x: 1.20 * bump(x, -30, 150) + 0.50 * bump(x, 690, 90)),
]


# --- the boat ------------------------------------------------------------------------------------

BOAT_X, BOAT_Y = 236.0, 352.0  # where the mast meets the water line


def inside(polygon, x, y):
    hit = False
    for (x0, y0), (x1, y1) in zip(polygon, polygon[1:] + polygon[:1]):
        if (y0 > y) != (y1 > y) and x < (x1 - x0) * (y - y0) / (y1 - y0) + x0:
            hit = not hit
    return hit


def curve(x0, y0, x1, y1, sag, steps=12):
    """Points from one end to the other, bent sideways by sag: a sail's edge in the wind."""
    nx, ny = y1 - y0, x0 - x1
    length = math.hypot(nx, ny)
    points = []
    for i in range(steps + 1):
        t = i / steps
        bend = 4 * t * (1 - t) * sag / length
        points.append((x0 + (x1 - x0) * t + nx * bend, y0 + (y1 - y0) * t + ny * bend))
    return points


HULL = curve(-36, -9, 40, -12, -2.5) + curve(40, -12, 28, 3, -2.0) + curve(28, 3, -28, 3, 0.5)
CABIN = [(-20, -16), (1, -16), (5, -8), (-22, -8)]
MAST = [(-0.9, -96), (0.9, -96), (1.3, -8), (-1.3, -8)]
BOOM = [(-33, -20.4), (0, -19.2), (0, -17.6), (-33, -19.0)]
MAIN_SAIL = [(-1.6, -94), (-1.6, -21)] + curve(-1.6, -21, -31, -22, -1.5) + curve(-31, -22, -1.6, -94, -4.5)
JIB = curve(2.2, -84, 36, -14, 2.0) + curve(36, -14, 5, -19, -2.0) + curve(5, -19, 2.2, -84, -4.0)


def boat(x, y):
    """The boat's colour at a point relative to BOAT_X, BOAT_Y, or None."""
    if not (-42 < x < 44 and -98 < y < 4):
        return None
    if inside(HULL, x, y):
        if y < -7.4 - 0.03 * x:
            return (0.72, 0.56, 0.42)
        if y > 0.6:
            return (0.20, 0.035, 0.03)
        return mix((0.055, 0.075, 0.12), (0.20, 0.15, 0.14), smoothstep(-10, 42, x))
    if inside(CABIN, x, y):
        window = -14.4 < y < -11.2 and abs((x + 30) % 6.5 - 3.2) < 1.9
        return (0.95, 0.62, 0.26) if window else (0.34, 0.26, 0.23)
    if inside(MAST, x, y) or inside(BOOM, x, y):
        return (0.13, 0.09, 0.075)
    if inside(MAIN_SAIL, x, y):
        seam = 0.90 if abs((y + 100) % 14 - 7) < 0.4 else 1.0
        t = smoothstep(-32, 0, x)
        return mix((0.98, 0.72, 0.46), (0.62, 0.43, 0.34), t * t) if seam == 1.0 else (0.60, 0.43, 0.33)
    if inside(JIB, x, y):
        return mix((0.74, 0.50, 0.36), (1.12, 0.80, 0.48), smoothstep(2, 34, x))
    return None


# --- the scene -----------------------------------------------------------------------------------


def land_and_sky(x, y):
    for chain in reversed(RANGES):
        column = min(WIDTH - 1, max(0, int(x)))
        if y >= chain.skyline[column]:
            return chain.colour(min(WIDTH - 1.0, max(0.0, x)), min(y, HORIZON))
    return sky(x, min(y, HORIZON - 0.5))


def sea(x, y):
    below = y - HORIZON + 0.6
    distance = 210.0 / below  # 1 near the lower edge, large at the horizon
    u, v = (x - WIDTH / 2) * distance * 0.016, distance * 5.2

    # Two scales of waves, flattened by distance. Slopes by differences.
    def surface(du, dv):
        swell = fbm((u + du) * 0.75, (v + dv) * 1.9, 500, 3)
        ripple = fbm((u + du) * 2.6 + 8.0, (v + dv) * 6.0, 600, 3, 0.6)
        return swell + 0.42 * ripple

    here = surface(0, 0)
    slope_u = (surface(0.06, 0) - here) / 0.06
    slope_v = (surface(0, 0.05) - here) / 0.05
    calm = 1.0 / (1.0 + 0.10 * distance)

    # The mirrored world, shaken by the waves.
    mirror_x = x + slope_u * (5.0 + 0.10 * below) * calm
    mirror_y = HORIZON - below * 1.05 - abs(slope_v) * (6.0 + 0.16 * below) * calm
    reflected = land_and_sky(mirror_x, max(2.0, mirror_y))
    ship = boat(x - BOAT_X + slope_u * 5.0, 2 * 1.5 - (y - BOAT_Y) * 1.18 + slope_v * 2.2)
    if ship is not None and y > BOAT_Y:
        reflected = mix(reflected, ship, 0.72)

    # Steep views see the water itself, grazing ones only the mirror.
    facing = clamp01(0.10 + 0.55 * below / (HEIGHT - HORIZON) + 0.10 * slope_v * calm)
    deep = mix((0.018, 0.055, 0.085), (0.035, 0.085, 0.105), here)
    colour = mix((reflected[0] * 0.86, reflected[1] * 0.86, reflected[2] * 0.90), deep, facing)

    # The sun's road: glints where a wave's face happens to point at it.
    width = 9.0 + 0.36 * below + 10.0 * (here - 0.6)
    road = math.exp(-(((x - SUN_X) / width) ** 2))
    glint = smoothstep(0.02, 0.95, 0.52 + 0.22 * slope_v - 0.10 * abs(slope_u))
    fade = 0.40 + 0.60 * math.exp(-below / 120.0)
    colour = add(colour, (1.55, 0.82, 0.34), road * glint * glint * 1.25 * fade)
    sparkle = smoothstep(0.80, 0.97, here - 0.35 + 0.10 * slope_v)
    return add(colour, (0.9, 0.55, 0.30), 0.10 * sparkle * math.exp(-abs(x - SUN_X) / 200.0))


BIRDS = [(304, 120, 8.5), (329, 132, 6.5), (286, 140, 6.0), (344, 113, 5.0), (272, 122, 4.5)]


def bird(x, y):
    for bx, by, span in BIRDS:
        dx = abs(x - bx) / span
        if dx < 1.0:
            wing = by - span * 0.42 * math.sin(dx * 2.4) + span * 0.16
            if abs(y - wing) < 0.95 * (1.1 - dx):
                return True
    return False


def scene(x, y):
    ship = boat(x - BOAT_X, y - BOAT_Y)
    if ship is not None:
        return ship
    if y < HORIZON:
        if bird(x, y):
            return (0.07, 0.06, 0.08)
        return land_and_sky(x, y)
    return sea(x, y)


def tone(v):
    """Linear light to a display value, with a film's soft shoulder."""
    v = max(0.0, v) * 0.80
    v = v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14)
    return clamp01(v) ** (1 / 1.75)


def render():
    rows = []
    samples = ((0.25, 0.25), (0.75, 0.75))
    for py in range(HEIGHT):
        row = bytearray()
        for px in range(WIDTH):
            r = g = b = 0.0
            for sx, sy in samples:
                colour = scene(px + sx, py + sy)
                r, g, b = r + min(colour[0], 3), g + min(colour[1], 3), b + min(colour[2], 3)
            scale = 1.0 / len(samples)
            nx, ny = px / WIDTH - 0.5, py / HEIGHT - 0.5
            scale *= 1.0 - 0.55 * (nx * nx + ny * ny)
            # Grain, coarse enough to look like film and light enough to compress.
            grain = (lattice(px, py, 900) + lattice(px // 2, py // 2, 901) - 1.0) * 0.006
            for v in (r, g, b):
                row.append(int(255 * clamp01(tone(v * scale) + grain) + 0.5))
        rows.append(bytes(row))
    return rows


# --- PNG -----------------------------------------------------------------------------------------


def filtered(row, above):
    """The row under the PNG filter that leaves the smallest differences."""
    best = None
    for kind in (1, 2, 3, 4):
        out = bytearray()
        for i, value in enumerate(row):
            a = row[i - 3] if i >= 3 else 0
            b = above[i]
            c = above[i - 3] if i >= 3 else 0
            if kind == 1:
                guess = a
            elif kind == 2:
                guess = b
            elif kind == 3:
                guess = (a + b) // 2
            else:
                pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                guess = a if pa <= pb and pa <= pc else b if pb <= pc else c
            out.append((value - guess) & 255)
        cost = sum(d if d < 128 else 256 - d for d in out)
        if best is None or cost < best[0]:
            best = (cost, bytes([kind]) + bytes(out))
    return best[1]


def png(rows):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    above, lines = bytes(3 * WIDTH), []
    for row in rows:
        lines.append(filtered(row, above))
        above = row
    deflate = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_FILTERED)
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", deflate.compress(b"".join(lines)) + deflate.flush())
            + chunk(b"IEND", b""))


def main():
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("harbour.png")
    target.write_bytes(png(render()))
    print(f"{target}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
