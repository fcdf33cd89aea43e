"""Timelines against values of 50 digits."""

import json
import math
import os
import pathlib
import re
import unittest

from agd import Timeline
from agd._curves import TIMINGS, Bezier, Keyframes, Plan, Spring

ROOT = pathlib.Path(__file__).resolve().parents[3]


def _sources():
    """The selection that the daemon's own tests use, and everything where it is there."""
    swift = (ROOT / "Tests/TimelinesTests/TruthSelection.swift").read_text(encoding="utf-8")
    yield json.loads(re.search(r'#"""\n(.*)"""#', swift, re.S).group(1))
    full = pathlib.Path(os.environ.get("AGD_SHARED", ROOT.parent / "shared")) / "animation/truth.json"
    if full.exists():
        yield json.loads(full.read_text(encoding="utf-8"))


SOURCES = list(_sources())


def rows(section):
    return [entry for source in SOURCES for entry in source.get(section, [])]


def number(x):
    return float(x)


def spring(spec):
    if "bounce" in spec:
        return Spring.of_duration(spec["duration"], spec["bounce"])
    if "stiffness" in spec:
        return Spring.physical(spec.get("mass", 1), spec["stiffness"], spec["damping"])
    return Spring.of_response(spec["response"], spec["dampingFraction"])


def timing(entry):
    return Bezier(*entry["p"]) if "p" in entry else TIMINGS[entry["kind"]]


class TruthTests(unittest.TestCase):
    def near(self, got, want, bound, place):
        if not math.isfinite(want):
            self.assertEqual(got, want, place)
        else:
            self.assertLessEqual(abs(got - want), bound, f"{place}: {got}, truth {want}")

    def test_springs_in_all_regimes_are_exact_to_1e_13(self):
        count = 0
        for entry in rows("springs"):
            s, v0 = spring(entry["spec"]), number(entry["v0"])
            scale = max(1.0, abs(v0) / s.omega)
            for t, x, v in entry["samples"]:
                value, velocity = s.state(0, 1, v0, number(t))
                self.near(value, number(x), 1e-13 * scale, f"{entry['id']} at {t}")
                self.near(velocity, number(v), 1e-13 * scale * s.omega, f"{entry['id']} velocity at {t}")
                count += 1
        self.assertGreater(count, 60)

    def test_settling_times_are_the_exact_ones(self):
        count = 0
        for entry in rows("springs"):
            for text, tolerance in (("1e-2", 1e-2), ("1e-3", 1e-3), ("1e-4", 1e-4)):
                if not entry.get("settle"):
                    continue
                want = number(entry["settle"][text])
                got = spring(entry["spec"]).settling_time(-1, number(entry["v0"]), tolerance)
                self.near(got, want, 1e-11 * max(1, want), f"{entry['id']} within {text}")
                count += 1
        self.assertGreater(count, 10)

    def test_bezier_and_circular_curves_are_exact_to_1e_14_and_to_1e_9_where_they_are_vertical(self):
        count = 0
        for entry in rows("unitCurves"):
            steep = "vertical" in entry["id"] or "steep" in entry["id"]
            for u, value, _ in entry["samples"]:
                self.near(timing(entry).sample(number(u))[0], number(value), 1e-9 if steep else 1e-14, f"{entry['id']} at {u}")
                count += 1
        self.assertGreater(count, 40)

    def test_keyframe_tracks_are_exact_to_1e_13(self):
        count = 0
        for entry in rows("keyframes"):
            track = Keyframes([keyframe(s) for s in entry["segments"]], entry["initial"])
            self.near(track.length, entry["total"], 1e-15, entry["id"])
            scale = max([1.0] + [abs(s["to"]) for s in entry["segments"]])
            for t, value, velocity in entry["samples"]:
                found = track.sample(number(t))
                self.near(found[0], number(value), 1e-13 * scale, f"{entry['id']} at {t}")
                self.near(found[1], number(velocity), 1e-11 * scale, f"{entry['id']} velocity at {t}")
                count += 1
        self.assertGreater(count, 20)

    def test_composed_modifiers_act_in_order_of_writing(self):
        count = 0
        for entry in rows("composed"):
            curve, modifiers = composition(entry["spec"])
            plan = Plan.of({"curve": curve, "modifiers": modifiers})
            for t, value, slope, _ in entry["samples"]:
                w = plan.weights(number(t), False)
                self.near(w.p, number(value), 1e-13, f"{entry['id']} at {t}")
                self.near(w.dp, number(slope), 1e-11, f"{entry['id']} slope at {t}")
                count += 1
        self.assertGreater(count, 40)


def bezier(points):
    return {"timingCurve": dict(zip(("x1", "y1", "x2", "y2"), points))}


def keyframe(segment):
    given = {key: value for key, value in segment.items() if key not in ("kind", "curve", "spring")}
    if segment.get("spring"):
        given["spring"] = {"spring": segment["spring"]}
    if segment.get("curve"):
        given["timingCurve"] = bezier(segment["curve"])
    return {segment["kind"]: given}


def composition(spec):
    """A curve in JSON form, and its modifiers in the order of writing."""
    modifiers = []
    while "base" in spec:
        if spec["kind"] == "delay":
            modifiers.append({"delay": spec["delay"]})
        elif spec["kind"] == "speed":
            modifiers.append({"speed": spec["speed"]})
        else:
            given = {"autoreverses": spec["autoreverse"]}
            if "cut" in spec["base"]:
                given["every"] = spec["base"]["cut"]
            if spec["count"] is None:
                modifiers.append({"repeatForever": given})
            else:
                modifiers.append({"repeatCount": {"count": spec["count"], **given}})
        spec = spec["base"]
    modifiers.reverse()
    if spec["kind"] == "linear":
        return {"linear": {"duration": spec["duration"]}}, modifiers
    if spec["kind"] == "bezier":
        curve = bezier(spec["p"])
        curve["timingCurve"]["duration"] = spec["duration"]
        return curve, modifiers
    return {"spring": {"duration": spec["duration"], "bounce": spec["bounce"]}}, modifiers


if __name__ == "__main__":
    unittest.main()
