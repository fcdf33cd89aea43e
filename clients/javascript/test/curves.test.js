/** Curves against values of 50 digits. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { Bezier, Keyframes, Plan, Spring, TIMINGS } from '../curves.js'
import { ROOT } from './daemon.js'

/** The selection that the daemon's own tests use, and everything where it is there. */
function sources() {
  const swift = readFileSync(join(ROOT, 'Tests/TimelinesTests/TruthSelection.swift'), 'utf8')
  const found = [JSON.parse(/#"""\n([\s\S]*)"""#/.exec(swift)[1])]
  const full = join(process.env.AGD_SHARED ?? join(ROOT, '../shared'), 'animation/truth.json')
  if (existsSync(full)) found.push(JSON.parse(readFileSync(full, 'utf8')))
  return found
}

const SOURCES = sources()
const rows = (section) => SOURCES.flatMap((source) => source[section] ?? [])
const number = (x) => (x === 'inf' ? Infinity : x === '-inf' ? -Infinity : x)

function near(got, want, bound, place) {
  if (!Number.isFinite(want)) return assert.equal(got, want, place)
  assert.ok(Math.abs(got - want) <= bound, `${place}: ${got}, truth ${want}`)
}

function spring(spec) {
  if ('bounce' in spec) return Spring.ofDuration(spec.duration, spec.bounce)
  if ('stiffness' in spec) return Spring.physical(spec.mass ?? 1, spec.stiffness, spec.damping)
  return Spring.ofResponse(spec.response, spec.dampingFraction)
}

const timingCurve = ([x1, y1, x2, y2]) => ({ timingCurve: { x1, y1, x2, y2 } })

it('springs in all regimes are exact to 1e-13', () => {
  let count = 0
  for (const entry of rows('springs')) {
    const s = spring(entry.spec)
    const v0 = number(entry.v0)
    const scale = Math.max(1, Math.abs(v0) / s.omega)
    for (const [t, x, v] of entry.samples) {
      const [value, velocity] = s.state(0, 1, v0, number(t))
      near(value, number(x), 1e-13 * scale, `${entry.id} at ${t}`)
      near(velocity, number(v), 1e-13 * scale * s.omega, `${entry.id} velocity at ${t}`)
      count += 1
    }
  }
  assert.ok(count > 60)
})

it('settling times are the exact ones', () => {
  let count = 0
  for (const entry of rows('springs').filter((each) => each.settle)) {
    for (const [text, tolerance] of [['1e-2', 1e-2], ['1e-3', 1e-3], ['1e-4', 1e-4]]) {
      const want = number(entry.settle[text])
      near(spring(entry.spec).settlingTime(-1, number(entry.v0), tolerance), want, 1e-11 * Math.max(1, want), entry.id)
      count += 1
    }
  }
  assert.ok(count > 10)
})

it('Bézier and circular curves are exact to 1e-14, and to 1e-9 where they are vertical', () => {
  let count = 0
  for (const { id, p, kind, samples } of rows('unitCurves')) {
    const timing = p ? new Bezier(...p) : TIMINGS[kind]
    const bound = /vertical|steep/.test(id) ? 1e-9 : 1e-14
    for (const [u, value] of samples) {
      near(timing.sample(number(u))[0], number(value), bound, `${id} at ${u}`)
      count += 1
    }
  }
  assert.ok(count > 40)
})

it('keyframe tracks are exact to 1e-13', () => {
  let count = 0
  for (const { id, initial, segments, total, samples } of rows('keyframes')) {
    const frames = segments.map(({ kind, curve, spring: inner, ...given }) => {
      if (inner) given.spring = { spring: inner }
      if (curve) given.timingCurve = timingCurve(curve)
      return { [kind]: given }
    })
    const track = new Keyframes(frames, initial)
    near(track.length, total, 1e-15, id)
    const scale = Math.max(1, ...segments.map(({ to }) => Math.abs(to)))
    for (const [t, value, velocity] of samples) {
      const found = track.sample(number(t))
      near(found[0], number(value), 1e-13 * scale, `${id} at ${t}`)
      near(found[1], number(velocity), 1e-11 * scale, `${id} velocity at ${t}`)
      count += 1
    }
  }
  assert.ok(count > 20)
})

it('composed modifiers act in order of writing', () => {
  let count = 0
  for (const { id, spec, samples } of rows('composed')) {
    const plan = Plan.of(composition(spec))
    for (const [t, value, slope] of samples) {
      const w = plan.weights(number(t), false)
      near(w.f, number(value), 1e-13, `${id} at ${t}`)
      near(w.df, number(slope), 1e-11, `${id} slope at ${t}`)
      count += 1
    }
  }
  assert.ok(count > 40)
})

it("JavaScript's own names are no curves", () => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
    assert.throws(() => Plan.of({ curve: name }), RangeError)
    assert.throws(() => Plan.of({ curve: { [name]: { duration: 1 } } }), RangeError)
  }
})

/** An animation in JSON form. */
function composition(spec) {
  const modifiers = []
  for (; spec.base; spec = spec.base) {
    if (spec.kind === 'delay') modifiers.unshift({ delay: spec.delay })
    else if (spec.kind === 'speed') modifiers.unshift({ speed: spec.speed })
    else {
      const given = { autoreverses: spec.autoreverse }
      if ('cut' in spec.base) given.every = spec.base.cut
      if (spec.count === null) modifiers.unshift({ repeatForever: given })
      else modifiers.unshift({ repeatCount: { count: spec.count, ...given } })
    }
  }
  if (spec.kind === 'linear') return { curve: { linear: { duration: spec.duration } }, modifiers }
  if (spec.kind === 'spring') return { curve: { spring: { duration: spec.duration, bounce: spec.bounce } }, modifiers }
  const curve = timingCurve(spec.p)
  curve.timingCurve.duration = spec.duration
  return { curve, modifiers }
}
