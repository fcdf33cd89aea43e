/** Cards come, go and change their places with the transitions of their nodes. */

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { CHROMIUM, PANELS, sleep, until, useBrowser } from './browser.js'

const scene = `
agd: 1
nodes:
  - id: b
    kind: group
    state: { isOn: false, items: [] }
    children:
      - id: row
        component: Cards
        containerValues: { panel: { title: A row } }
        children:
          - id: many
            forEach:
              in: $items
              as: item
              node:
                kind: view
                computed: { n: int(item.n) }
                transition: "scale(0.5).combined(with: opacity)"
                containerValues: { panel: { value: n, kind: value } }
          - { id: field, state: { x: words }, containerValues: { panel: { kind: textField, value: x, title: A field } } }
          - id: choice
            if: $isOn
            then:
              - id: extra
                kind: view
                state: { x: 1 }
                transition: "asymmetric(insertion: move(edge: leading).combined(with: opacity), removal: opacity)"
                containerValues: { panel: { value: x, kind: value } }
              - { id: sudden, kind: view, state: { x: 2 }, transition: identity, containerValues: { panel: { value: x, kind: value } } }
`
const items = (ids) => [...ids].map((id, n) => ({ id, n }))

/** Animations of a card by the properties that they move, each with the member of its keyframe at both ends. */
const HELPERS = `
window.moves = (path) => card(path).getAnimations().map((each) => {
  const frames = each.effect.getKeyframes()
  const names = Object.keys(frames[0]).filter((name) => ['opacity', 'transform', 'translate'].includes(name))
  return { id: each.id, ...Object.fromEntries(names.map((name) => [name, [frames[0][name], frames.at(-1)[name]]])) }
})
window.going = (path) => board().querySelector('.going .card[data-path="' + CSS.escape(path) + '"]')`

describe('changes of the structure', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  const slow = { animation: 'linear(duration: 20)' }
  const set = (path, value, options = { disablesAnimations: true }) => site.client.set(path, value, options)

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  beforeEach(async () => {
    await page?.close()
    await set('/b.isOn', false)
    await set('/b.items', items('abc'))
    page = await browser.open(site.url)
    await page.until(`card('/b/row/many/c.n')`)
    await page.run(HELPERS)
    assert.equal(await page.run(`board().getAnimations({ subtree: true }).length`), 0, 'a board appears at once')
  })

  test('a card comes with the insertion of its node, as the closed form says', async () => {
    await page.run(`(async () => {
      const { client } = await import('./elements.js')
      const { Timeline } = await import('./gateway.js')
      const watch = client().watch('/b/**', { css: true, events: ['update', 'structure'] })
      let isReady
      const ready = new Promise((resolve) => (isReady = resolve))
      ;(async () => {
        for await (const event of watch) {
          if (event.timeline) window.timeline = new Timeline(event.timeline)
          isReady()
        }
      })()
      await ready
    })()`)
    // Another watch begins the stream of all anew: the board asks for its cards again, and has to have them.
    await page.until(`performance.getEntriesByType('resource').every(({ responseEnd }) => performance.now() > responseEnd + 300)`)
    await set('/b.isOn', true, { animation: 'spring(duration: 1.2, bounce: 0.2)' })
    await page.until(`card('/b/row/extra.x')`)
    const samples = await page.run(`new Promise((resolve) => {
      const found = []
      const element = card('/b/row/extra.x')
      const frame = () => {
        const [animation] = element.getAnimations()
        if (!animation || found.length > 40) return resolve(found)
        const part = timeline.components(timeline.start + animation.currentTime / 1000)[0]
        const style = getComputedStyle(element)
        const shift = new DOMMatrix(style.transform).e / parseFloat(style.width)
        found.push([Number(style.opacity), Math.min(1, part), shift, part - 1])
        requestAnimationFrame(frame)
      }
      frame()
    })`)
    assert.ok(samples.length > 4, `only ${samples.length} samples`)
    for (const [opacity, wantedOpacity, shift, wantedShift] of samples) {
      assert.ok(Math.abs(opacity - wantedOpacity) <= 1e-3, `opacity ${opacity}, not ${wantedOpacity}`)
      assert.ok(Math.abs(shift - wantedShift) <= 1e-3, `shift ${shift}, not ${wantedShift}`)
    }
    assert.deepEqual(await page.run(`moves('/b/row/sudden.x')`), [], 'identity does not move')
  })

  test('a card that goes stays with its removal until the end, and cannot be reached', async () => {
    await set('/b.isOn', true)
    await page.until(`card('/b/row/extra.x')`)
    await set('/b.isOn', false, { animation: 'linear(duration: 0.8)' })
    await page.until(`going('/b/row/extra.x')`)
    const found = await page.run(`(() => {
      const element = going('/b/row/extra.x')
      const [animation] = element.getAnimations()
      animation.pause()
      animation.currentTime = 400
      const result = [getComputedStyle(element).opacity, getComputedStyle(element).transform, Boolean(element.closest('[inert]'))]
      animation.play()
      return result
    })()`)
    assert.deepEqual(found, ['0.5', 'none', true])
    assert.equal(await page.run(`going('/b/row/sudden.x')`), null)
    assert.ok(!(await page.accessibility()).some(({ name }) => name === 'Extra'), 'screen readers do not find it')
    await page.until(`!going('/b/row/extra.x') && board().querySelector('.going').childElementCount === 0`)
  })

  test('the others make room by the same timeline, from where they were', async () => {
    const place = (id) => page.run(`(() => { const { left, top } = card('/b/row/many/${id}.n').getBoundingClientRect(); return [left, top] })()`)
    const distance = ([x, y], [left, top]) => Math.hypot(x - left, y - top)
    const before = new Map()
    for (const id of 'abc') before.set(id, await place(id))
    await set('/b.items', items('dcba'), slow)
    await page.until(`card('/b/row/many/d.n')`)
    const near = (await page.run(`card('/b/row/many/d.n').getBoundingClientRect().width`)) * 0.1
    for (const id of 'abc') assert.ok(distance(await place(id), before.get(id)) < near, `${id} is near its old place`)
    assert.match((await page.run(`moves('/b/row/many/a.n')`))[0].id, /^agd \d+$/)
    const [come] = await page.run(`moves('/b/row/many/d.n')`)
    assert.deepEqual([come.transform, come.opacity], [['scale(0.5)', 'scale(1)'], ['0', '1']])
    // Turning back begins where the card is displayed.
    await page.run(`card('/b/row/many/a.n').getAnimations()[0].currentTime = 10000`)
    const shown = await place('a')
    assert.ok(distance(shown, before.get('a')) > 2 * near)
    await page.run(`window.animationBefore = card('/b/row/many/a.n').getAnimations()[0]`)
    await set('/b.items', items('abc'), slow)
    await page.until(`card('/b/row/many/a.n').getAnimations()[0] && card('/b/row/many/a.n').getAnimations()[0] !== animationBefore`)
    const turned = await place('a')
    assert.ok(distance(turned, shown) < near, `${turned} is near ${shown}`)
  })

  test('a card that returns while it goes continues from where it is', async () => {
    await page.run(`window.first = card('/b/row/many/b.n')`)
    await set('/b.items', items('ac'), slow)
    await page.until(`going('/b/row/many/b.n')`)
    await sleep(600)
    await set('/b.items', items('abc'), slow)
    await page.until(`card('/b/row/many/b.n')`)
    assert.equal(await page.run(`card('/b/row/many/b.n') === first`), true)
    const opacity = Number(await page.run(`getComputedStyle(first).opacity`))
    assert.ok(opacity > 0.8, `opacity ${opacity}`)
    assert.equal(await page.run(`board().querySelector('.going').childElementCount`), 0)
  })

  test('without an animation of the transaction the page moves them itself, briefly', async () => {
    await set('/b.items', items('cab'))
    await page.until(`moves('/b/row/many/c.n')[0]?.translate`)
    assert.equal(await page.run(`card('/b/row/many/c.n').getAnimations()[0].effect.getTiming().duration`), 180)
    await page.until(`card('/b/row/many/c.n').getAnimations().length === 0`)
  })

  test('a field keeps its focus and text while cards come and go around it', async () => {
    await page.run(`(() => { const field = card('/b/row/field.x').querySelector('textarea'); field.focus(); field.select() })()`)
    await page.send('Input.insertText', { text: 'half' })
    await set('/b.items', items('dc'), { animation: 'smooth' })
    await page.until(`card('/b/row/many/d.n')`)
    await page.send('Input.insertText', { text: ' typed' })
    assert.equal(await page.run(`board().activeElement.value`), 'half typed')
  })

  test('for a person who wants less motion nothing moves, and cards only fade briefly', async () => {
    await page.emulate({ isMotionReduced: true })
    await page.until(`matchMedia('(prefers-reduced-motion: reduce)').matches`)
    await page.run(`(() => {
      window.asked = []
      const before = Element.prototype.animate
      Element.prototype.animate = function (frames, options) {
        asked.push([Object.keys(frames[0]).join(), options.duration])
        return before.call(this, frames, options)
      }
    })()`)
    await set('/b.items', items('dca'), slow)
    await page.until(`card('/b/row/many/d.n') && !card('/b/row/many/b.n')`)
    assert.deepEqual(await page.run(`asked`), [['opacity', 100], ['opacity', 100]])
    await page.until(`board().querySelector('.going').childElementCount === 0`)
  })

  test('a page in the background keeps nothing that goes', async () => {
    await page.run(`Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })`)
    for (const ids of ['b', 'ab', 'c', 'abcd', '']) await set('/b.items', items(ids), slow)
    await page.until(`!card('/b/row/many/a.n') && !card('/b/row/many/d.n')`)
    await until('nothing moves', () => page.run(`board().querySelector('.going').childElementCount === 0`))
    assert.deepEqual(page.faults, [])
  })
})
