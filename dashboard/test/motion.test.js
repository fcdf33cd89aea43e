/** The browser plays the daemon's motions. They are compared with the closed form (clients/javascript/timeline.js). */

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { CHROMIUM, PANELS, sleep, useBrowser } from './browser.js'

const COUNT = 200
const scene = `
agd: 1
nodes:
  - id: m
    component: Cards
    children:
      - { id: bar, state: { x: 0.0 }, containerValues: { panel: { kind: bar, value: x, title: Bar } } }
      - { id: gauge, state: { x: 0.0 }, containerValues: { panel: { kind: gauge, value: x, title: Gauge } } }
      - { id: color, state: { x: { type: color, initial: "#000000" } }, containerValues: { panel: { kind: color, value: x } } }
${Array.from({ length: COUNT }, (_, i) => `      - { id: b${i}, state: { x: 0.0 }, containerValues: { panel: { kind: bar, value: x, title: B${i} } } }`).join('\n')}
`

/** Records, in each frame, where the element is and where the closed form is at the animation's own time. */
const RECORD = `
window.timelines = {}
window.samples = []
window.listen = async () => {
  const { client } = await import('./elements.js')
  window.agd = client()
  const watch = agd.watch(['/m/bar.x', '/m/gauge.x'], { css: true })
  let isReady
  const ready = new Promise((resolve) => (isReady = resolve))
  ;(async () => {
    for await (const event of watch) {
      for (const [, change] of event.details ?? []) if (change.timeline) timelines['agd ' + change.timeline.id] = change.timeline
      isReady()
    }
  })()
  await ready
}
window.record = (path, part, read, seconds) => new Promise((resolve) => {
  const elements = [...card(path).querySelectorAll(part)]
  const end = performance.now() + seconds * 1000
  samples = []
  const frame = () => {
    const [animation] = elements.flatMap((each) => each.getAnimations())
    const timeline = timelines[animation?.id]
    if (timeline) {
      const current = animation.currentTime
      const at = timeline.start + current / 1000
      const expected = timeline.components(at)[0] / 100
      samples.push([timeline.id, read(...elements.map((each) => getComputedStyle(each))), expected])
    }
    if (performance.now() < end) requestAnimationFrame(frame)
    else resolve(samples)
  }
  frame()
})`

const SCALE = '(style) => new DOMMatrix(style.transform).a'
/** The first part of an arc turns by 180°, and then the second one by 90°. */
const TURN = `(...parts) => {
  const [first, second] = parts.map(({ transform }) => {
    const { a, b } = new DOMMatrix(transform)
    return Math.atan2(b, a) * 180 / Math.PI
  })
  const end = 1 + second / 270
  return end > 2 / 3 ? end : (first > 90 ? first - 180 : first + 180) / 270
}`

describe('motion', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  before(async () => {
    page = await browser.open(site.url)
    await page.until(`card('/m/b${COUNT - 1}.x')`)
    await page.run(RECORD)
    await page.run(`listen()`)
  })

  /** The largest distance from the closed form, as a part of the scale. */
  function check(samples, least = 4) {
    assert.ok(samples.length >= least, `only ${samples.length} samples`)
    const error = Math.max(...samples.map(([, seen, expected]) => Math.abs(seen - expected)))
    assert.ok(error <= 1e-3, `${error} off the closed form`)
  }

  for (const animation of ['smooth', 'bouncy', 'easeInOut(duration: 0.6)', 'spring(duration: 0.7, bounce: 0.5)', 'linear(duration: 0.5)']) {
    test(`${animation} is at most a thousandth off the closed form`, async () => {
      await site.client.set('/m/bar.x', 0, { disablesAnimations: true })
      const recording = page.run(`record('/m/bar.x', '.bar > i', ${SCALE}, 0.9)`)
      await sleep(60)
      await site.client.set('/m/bar.x', 90, { animation })
      check(await recording)
    })
  }

  for (const [from, to, animation] of [
    [0, 80, 'bouncy'], [80, 10, 'smooth'], [0, 45, 'spring(duration: 0.6, bounce: 0.6)'], [90, 60, 'spring(duration: 0.6, bounce: 0.7)'],
    [0, 100, 'easeInOut(duration: 0.5)'],
  ]) {
    test(`an arc moves from ${from} to ${to} by ${animation} as a bar does`, async () => {
      await site.client.set('/m/gauge.x', from, { disablesAnimations: true })
      await page.until(`card('/m/gauge.x').querySelector('.value').innerText.startsWith('${from}')`)
      const recording = page.run(`record('/m/gauge.x', '.windows .fill', ${TURN}, 0.8)`)
      await sleep(60)
      await site.client.set('/m/gauge.x', to, { animation })
      check(await recording)
    })
  }

  test('a new target in the middle of a motion is reached without a jump', async () => {
    for (const animation of ['bouncy', 'easeInOut(duration: 0.6)', 'spring(duration: 0.6, bounce: 0.3)']) {
      await site.client.set('/m/bar.x', 0, { disablesAnimations: true })
      const recording = page.run(`record('/m/bar.x', '.bar > i', ${SCALE}, 1.2)`)
      await sleep(40)
      await site.client.set('/m/bar.x', 90, { animation })
      await sleep(200)
      await site.client.set('/m/bar.x', 10, { animation })
      const samples = await recording
      check(samples)
      assert.ok(new Set(samples.map(([id]) => id)).size >= 2, 'both motions were seen')
    }
  })

  test('a page that opens during a motion joins it where it is', async () => {
    await site.client.set('/m/bar.x', 0, { disablesAnimations: true })
    await site.client.set('/m/bar.x', 100, { animation: 'linear(duration: 20)' })
    const other = await browser.open(site.url)
    await other.until(`card('/m/bar.x').querySelector('.bar > i').getAnimations().length === 1`)
    const current = await other.run(`card('/m/bar.x').querySelector('.bar > i').getAnimations()[0].currentTime`)
    assert.ok(current > 50, `${current} ms`)
    await other.close()
    await site.client.set('/m/bar.x', 0, { disablesAnimations: true })
  })

  test('a colour is mixed as the daemon mixes it', async () => {
    await site.client.set('/m/color.x', '#ffffff', { animation: 'linear(duration: 5)' })
    await page.until(`card('/m/color.x').querySelector('.swatch').getAnimations().length === 1`)
    const found = await page.run(`(() => {
      const swatch = card('/m/color.x').querySelector('.swatch')
      const [animation] = swatch.getAnimations()
      animation.pause()
      animation.currentTime = 2500
      return getComputedStyle(swatch).backgroundColor
    })()`)
    // Half of the way in Oklab; half of the way in sRGB would be 0.598.
    assert.match(found, /^oklab\(0\.(5|49999|50000)/)
  })

  test('JavaScript runs in no frame while 200 cards move', async () => {
    await page.run(`(() => {
      window.frames_ = 0
      window.intervals_ = 0
      const before = window.requestAnimationFrame
      window.requestAnimationFrame = (act) => { frames_ += 1; return before(act) }
    })()`)
    const mutations = Array.from({ length: COUNT }, (_, i) => ({ op: 'set', path: `/m/b${i}.x`, value: 30 + (i % 60) }))
    await site.client.transact(mutations, { animation: 'spring(duration: 2, bounce: 0.3)' })
    await page.until(`board().querySelectorAll('.card').length >= ${COUNT} && document.querySelector('agd-board').shadowRoot.getAnimations({ subtree: true }).length >= ${COUNT}`)
    await sleep(800)
    const moving = await page.run(`document.querySelector('agd-board').shadowRoot.getAnimations().length`)
    assert.ok(moving >= COUNT, `${moving} move`)
    assert.equal(await page.run(`frames_`), 0)
  })

  test('nothing moves for a person who wants less motion', async () => {
    await page.emulate({ isMotionReduced: true })
    await page.until(`matchMedia('(prefers-reduced-motion: reduce)').matches`)
    await site.client.set('/m/gauge.x', 10, { animation: 'linear(duration: 3)' })
    await page.until(`card('/m/gauge.x').querySelector('.value').innerText.startsWith('10')`)
    assert.equal(await page.run(`card('/m/gauge.x').querySelector('.windows .fill').getAnimations().length`), 0)
    assert.deepEqual(page.faults, [])
  })
})
