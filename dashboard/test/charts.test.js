/** Charts that answer: several series, areas, thresholds, axes of time, bars of states, and the moment that all of them share. */

import assert from 'node:assert/strict'
import { before, beforeEach, describe, test } from 'node:test'
import { CHROMIUM, PANELS, until, useBrowser } from './browser.js'
import { States } from '../chart.js'

const scene = `agd: 1
nodes:
  - id: c
    component: Cards
    children:
      - id: row
        component: Cards
        containerValues: { panel: { title: Charts } }
        children:
          - id: power
            state: { solar: 10.0, grid: 30.0 }
            containerValues: { panel: { values: [solar, { value: grid, title: From the grid, tint: "#123456" }], stacked: true, title: Power, unit: W, min: 0, warn: 30, critical: 90 } }
          - id: load
            kind: group
            state: { average: { one: 0.5, five: 0.4 } }
            children:
              - { id: line, let: { average: $average }, containerValues: { panel: { kind: line, values: [average.one, average.five], title: Load } } }
          - id: half
            state: { zero: 0.0, sum: 5.0 }
            computed: { broken: 1 / int(zero) }
            containerValues: { panel: { kind: line, values: [broken, sum], title: Half } }
          - { id: none, state: { zero: 0 }, computed: { x: 1 / zero, y: 2 / zero }, containerValues: { panel: { kind: line, values: [x, y], title: None } } }
          - { id: door, state: { isOpen: false, mode: eco }, containerValues: { panel: { values: [isOpen, mode], title: Door } } }
          - { id: kept, state: { level: { initial: 1, history: 10m } }, containerValues: { panel: { kind: timeline, value: level, title: Kept, window: 600 } } }
          - { id: text, state: { x: 1.0 }, containerValues: { panel: { values: x, title: Text } } }
          - { id: missing, state: { x: 1.0 }, containerValues: { panel: { values: [x, y], title: Missing } } }
          - { id: gauge, state: { x: 1.0, y: 2.0 }, containerValues: { panel: { kind: gauge, values: [x, y], title: Gauge } } }
`

/** Cards whose clock the test sets. It begins at 1000; the wall clock says 1,700,000,000 then. */
const LAB = `(async () => {
  const [{ Card }, { tokens, look }] = [await import('./cards.js'), await import('./style.js')]
  document.adoptedStyleSheets = [tokens, look]
  window.time = 1000
  window.recorded = {}
  const client = {
    now: () => time, clock: { wallOffset: 1_699_999_000, offset: 0, isWritable: true },
    history: async (path) => { if (recorded[path]) return recorded[path]; throw Object.assign(new Error('none'), { code: 'notFound' }) },
  }
  document.getElementById('main').replaceChildren()
  window.make = (path, options) => {
    const card = new Card({ client, path, title: path, ...options })
    card.element.style.cssText = 'width: 480px; margin-bottom: 12px'
    document.getElementById('main').append(card.element)
    return card
  }
  window.put = (card, at, ...values) => {
    time = at
    values.forEach((value, i) => card.show(card.paths[i], { value }))
  }
  window.frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
})()`

describe('charts that answer', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  const series = (names) => `[${names.split('').map((name) => `{ path: '/x.${name}', title: '${name.toUpperCase()}' }`)}]`

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  describe('on a board', () => {
    before(async () => {
      page = await browser.open(site.url)
      await page.until(`card('/c/row/gauge.x') && card('/c/row/power.solar').querySelector('.legend')`)
    })

    test('several values have a legend with their names, colours and values, and the figure of areas is their sum', async () => {
      const legend = (path) => page.run(`[...card('${path}').querySelectorAll('.legend li')].map((each) => each.innerText.replace(/\\s+/g, ' '))`)
      await page.until(`card('/c/row/power.solar').querySelector('.legend').innerText.includes('30')`)
      assert.deepEqual(await legend('/c/row/power.solar'), ['Solar 10 W', 'From the grid 30 W'])
      await page.until(`textOf('/c/row/power.solar')?.replace(/\\s/g, '') === '40W'`)
      const colours = await page.run(`[...card('/c/row/power.solar').querySelectorAll('svg path')].map((each) => getComputedStyle(each).stroke)`)
      assert.deepEqual(colours, ['rgb(0, 114, 178)', 'rgb(18, 52, 86)'])
      // Thresholds count for what the axis shows: the sum.
      assert.equal(await page.run(`card('/c/row/power.solar').dataset.status`), 'warn')
      await site.client.set('/c/row/power.grid', 85)
      await page.until(`card('/c/row/power.solar').dataset.status === 'critical' && textOf('/c/row/power.solar').startsWith('95')`)
    })

    test('parts of a value are series, also after the structure has changed', async () => {
      const legend = `card('/c/row/load/line.average.one').querySelector('.legend').innerText`
      await page.until(`/One\\s+0.5\\s+Five\\s+0.4/.test(${legend})`)
      await site.client.apply('agd: 1\nnodes: [{ id: late, state: { x: 1 } }]', { at: '/c' })
      await page.until(`card('/c/late.x')`)
      await site.client.set('/c/row/load.average', { one: 2.5, five: 1.5 })
      await page.until(`/One\\s+2.5\\s+Five\\s+1.5/.test(${legend})`)
    })

    test('a value that fails is a dash beside the others; if all fail, the card says why', async () => {
      await page.until(`/Broken\\s+–\\s+Sum\\s+5/.test(card('/c/row/half.broken').querySelector('.legend')?.innerText)`)
      assert.equal(await page.run(`card('/c/row/half.broken').querySelector('.legend b').title`), 'division by zero')
      assert.equal(await page.run(`textOf('/c/row/none.x', '.failure')`), 'division by zero')
      await site.client.set('/c/row/half.zero', 2)
      await page.until(`/Broken\\s+0/.test(card('/c/row/half.broken').querySelector('.legend').innerText)`)
    })

    test('mistakes in a panel say what to do', async () => {
      const failure = (path) => page.run(`textOf('${path}', '.failure')`)
      assert.equal(await failure('/c/row/text'), 'values of the panel of /c/row/text must be a list of attributes.')
      assert.equal(await failure('/c/row/missing.x'), '/c/row/missing has no attribute y.')
      assert.equal(await failure('/c/row/gauge.x'), 'A gauge shows one value. Several need the kind line or timeline.')
    })

    test('bools and texts are bars of time, and the record of a number fills its bars', async () => {
      const states = (path) => `[...card('${path}').querySelectorAll('.state')].map((each) => each.textContent).join()`
      await page.until(`${states('/c/row/door.isOpen')} === 'No,eco'`)
      await site.client.transact([{ op: 'set', path: '/c/row/door.isOpen', value: true }, { op: 'set', path: '/c/row/door.mode', value: 'heat' }])
      await page.until(`${states('/c/row/door.isOpen')} === 'No,Yes,eco,heat'`)
      const recorded = (value) => until(`${value} is recorded`, async () => {
        const { least, greatest } = await site.client.history('/c/row/kept.level')
        return least.some((each, i) => each === value && greatest[i] === value && i < least.length - 1)
      })
      await recorded(1)
      await site.client.set('/c/row/kept.level', 2)
      await recorded(2)
      const other = await browser.open(site.url)
      await other.until(`${states('/c/row/kept.level')} === '1,2'`)
      await other.close()
      await page.send('Page.bringToFront')
    })

    test('what the first picture does not need comes when it is used', async () => {
      const other = await browser.open(`${site.url}?root=/c/late`)
      await other.until(`card('/c/late.x')`)
      const loaded = () => other.run(`performance.getEntriesByType('resource').map((each) => each.name.split('/').at(-1)).filter((each) => ['plot.js', 'crosshair.js', 'states.js', 'sheet.js', 'why.js'].includes(each)).sort()`)
      assert.deepEqual(await loaded(), [])
      await other.click(`card('/c/late.x').querySelector('h3 a')`)
      await other.until(`board().querySelector('dialog[open]')`)
      assert.deepEqual(await loaded(), ['plot.js', 'sheet.js', 'why.js'])
      assert.deepEqual(other.faults, [])
      await other.close()
      await page.send('Page.bringToFront')
      assert.deepEqual(page.faults, [])
    })

    test('colours of series have a contrast of 3 on cards, in light and dark', async () => {
      for (const scheme of ['light', 'dark']) {
        await page.emulate({ scheme })
        const ratios = await page.run(`(() => {
          const probe = document.body.appendChild(document.createElement('p'))
          const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
          const light = (token) => {
            probe.style.color = 'var(' + token + ')'
            canvas.fillStyle = getComputedStyle(probe).color
            canvas.fillRect(0, 0, 1, 1)
            return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((each) => each / 255)
              .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
              .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0)
          }
          const ground = light('--surface')
          const found = [1, 2, 3, 4, 5, 6].map((i) => light('--series-' + i)).map((each) => (Math.max(each, ground) + 0.05) / (Math.min(each, ground) + 0.05))
          probe.remove()
          return found
        })()`)
        for (const ratio of ratios) assert.ok(ratio >= 3, `${scheme}: ${ratios}`)
      }
      await page.emulate({})
    })
  })

  describe('at known times', () => {
    beforeEach(async () => {
      await page?.close()
      page = await browser.open(site.url)
      await page.until(`card('/c/row/gauge.x')`)
      await page.run(LAB)
    })

    test('areas stand on each other, with their gaps', async () => {
      const paths = await page.run(`(async () => {
        const card = make('/x.a', { kind: 'chart', series: ${series('ab')}, panel: { stacked: true, window: 100, min: 0 } })
        put(card, 1000, 10, 30)
        put(card, 1040, 10, null)
        put(card, 1060, 10, 30)
        time = 1100
        for (let i = 0; i < 100 && !card.view.line.stack; i++) await frame()
        card.tick()
        await frame()
        return [...card.element.querySelectorAll('svg path')].map((each) => each.getAttribute('d'))
      })()`)
      const points = paths.map((d) => d.split('Z').filter(Boolean).map((part) => part.slice(1).split(/[ML]/).map((each) => each.split(' ').map(Number))))
      // The lower area is whole, the upper one has a gap.
      assert.deepEqual(points.map((parts) => parts.length), [1, 2])
      assert.deepEqual([...new Set(points[0][0].map(([, y]) => y))], [0.75, 1])
      for (const part of points[1]) assert.deepEqual([...new Set(part.map(([, y]) => y))], [0, 0.75])
      const ends = points[1].map((part) => [part[0][0], Math.max(...part.map(([x]) => x))])
      assert.ok(ends[0][0] === 0 && Math.abs(ends[0][1] - 0.4) < 0.02 && Math.abs(ends[1][0] - 0.6) < 0.02 && ends[1][1] === 1, JSON.stringify(ends))
    })

    test('thresholds are lines where the axis reaches them', async () => {
      const found = await page.run(`(async () => {
        const card = make('/x.a', { kind: 'chart', panel: { window: 100, min: 0, max: 100 }, levels: [{ from: 75, status: 'warn' }, { from: 150, status: 'critical' }] })
        put(card, 1000, 10)
        await frame()
        return [...card.element.querySelectorAll('.limit')].map((each) => [each.getAttribute('class'), each.getAttribute('y1'), each.hasAttribute('hidden')])
      })()`)
      assert.deepEqual(found.map(([name, , isHidden]) => [name, isHidden]), [['limit warn', false], ['limit critical', true]])
      assert.equal(found[0][1], '0.25')
    })

    test('marks of time are round, move with the line, and never stand on each other', async () => {
      for (const [width, locale] of [[280, 'en_US'], [480, 'de_DE'], [1600, 'en_US']]) {
        for (const span of [60, 300, 7200, 604_800]) {
          const found = await page.run(`(async () => {
            const card = make('/x.a', { kind: 'chart', panel: { window: ${span} } })
            card.element.style.width = '${width}px'
            card.setLocale('${locale}')
            put(card, 1000, 1)
            const labels = () => [...card.element.querySelectorAll('.times span:not([hidden])')]
            for (let i = 0; i < 100 && labels().length === 0; i++) await frame()
            const times = card.element.querySelector('.times').getBoundingClientRect()
            const boxes = labels().map((each) => each.getBoundingClientRect())
            const lefts = labels().map((each) => parseFloat(each.style.left))
            const first = labels()[0].textContent
            time += ${span} / 100
            card.tick()
            await frame()
            const moved = labels().find((each) => each.textContent === first)
            const result = {
              texts: labels().map((each) => each.textContent), isInside: boxes[0].left >= times.left, right: times.right - boxes.at(-1).right,
              gaps: boxes.slice(1).map((each, i) => each.left - boxes[i].right), shift: moved ? lefts[0] - parseFloat(moved.style.left) : 1,
            }
            card.remove()
            time = 1000
            return result
          })()`)
          const what = `${width} pixels, ${span} s: ${JSON.stringify(found)}`
          assert.ok(found.isInside && found.right > 20 && found.gaps.every((gap) => gap > 4), what)
          assert.ok(Math.abs(found.shift - 1) < 0.02, what)
          if (span === 300 && width < 1000) assert.match(found.texts[0], locale === 'de_DE' ? /^\d\d:\d\d$/ : /^\d\d:\d\d\s[AP]M$/)
        }
      }
    })

    /** Three charts of different spans, and a line of a minute. */
    const FOUR = `
      window.wide = make('/x.a', { kind: 'chart', series: ${series('ab')}, panel: { window: 200, unit: 'W' } })
      window.near = make('/y.a', { kind: 'chart', panel: { window: 100 } })
      window.door = make('/z.a', { kind: 'timeline', panel: { window: 100, on: 'Open', off: 'Closed' } })
      window.spark = make('/s.a', { kind: 'sparkline', panel: { window: 60 } })
      for (const [at, values, isOpen] of [[1000, [1, 100], false], [1050, [2, 200], true], [1100, [3, 300], false]]) {
        put(wide, at, ...values)
        for (const each of [near, spark]) put(each, at, values[0])
        put(door, at, isOpen)
      }
      time = 1150
      for (const each of [wide, near, door, spark]) each.tick()
      window.tags = () => [wide, near, door].map((each) => each.element.querySelector('.tag')?.innerText.replace(/\\s+/g, ' ') ?? null).concat(spark.element.querySelector('.context').innerText)`

    const point = async (card, part) => {
      const [x, y] = await page.run(`(() => {
        const { left, width, top, height } = (${card}.view.area ?? ${card}.view.line.element).getBoundingClientRect()
        return [left + ${part} * width, top + height / 2]
      })()`)
      await page.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y })
    }

    test('pointing at one chart shows the moment and its values in all of them', async () => {
      await page.run(`(async () => { ${FOUR}; for (let i = 0; i < 100 && !door.element.querySelector('.state'); i++) await frame(); scrollTo(0, 0) })()`)
      const clock = (time) => page.run(`import('./format.js').then(({ moment }) => moment(1_699_999_000 + ${time}, 1).replace(/\\s+/g, ' '))`)
      // A quarter of the span of 100 s before 1150.
      await point('near', 0.75)
      await page.until(`tags()[1]`)
      assert.deepEqual(await page.run(`tags()`), ['A 3 W B 300 W', `3 ${await clock(1125)}, 25 s ago`, 'Closed', `3 · ${await clock(1125)}`])
      // The line is at the pointer in each chart, and a dot on each series.
      const places = await page.run(`[wide, near, spark].map((each) => Number(each.element.querySelector('.cursor').getAttribute('x1')).toFixed(2))`)
      assert.deepEqual(places, [(1 - 25 / 200).toFixed(2), '0.75', (1 - 25 / 60).toFixed(2)])
      assert.equal(await page.run(`wide.element.querySelectorAll('.dot:not([hidden])').length`), 2)
      // The pointer rests and time goes on: the values are those that come under it.
      await page.run(`(async () => { time = 1160; near.tick(); await frame() })()`)
      assert.match(await page.run(`tags()[1]`), /^3 .*, 25 s ago$/)
      await point('near', 0.25)
      await page.until(`tags()[1]?.startsWith('2 ')`)
      assert.deepEqual((await page.run(`tags()`)).slice(0, 3).map((each) => each.split(' ')[0]), ['A', '2', 'Open'])
      // The sparkline does not reach so far.
      assert.equal(await page.run(`spark.element.querySelector('.cursor')`), null)
      // Where nothing is known.
      await point('wide', 0.1)
      await page.until(`tags()[0]?.startsWith('A – B –')`)
      assert.deepEqual((await page.run(`tags()`)).slice(1, 3), [null, null])
      await page.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: 1400, y: 5 })
      await page.until(`tags().every((each, i) => i === 3 ? each === '2 to 3' : each === null)`)
      assert.equal(await page.run(`document.querySelectorAll('.cursor, .dot, .mark').length`), 0)
      assert.deepEqual(page.faults, [])
    })

    test('keys walk through the moments of a chart, and screen readers hear the values', async () => {
      await page.run(`(async () => { ${FOUR}; wide.view.plot.focus(); scrollTo(0, 0) })()`)
      const spoken = () => page.run(`wide.view.plot.getAttribute('aria-valuetext')`)
      assert.ok((await page.accessibility()).some(({ role, name }) => role === 'slider' && name === '/x.a: moment'))
      await page.until(`performance.getEntriesByType('resource').some((each) => each.name.endsWith('crosshair.js'))`)
      const press = async (key, seconds) => {
        await page.press(key)
        await page.until(`wide.view.plot.getAttribute('aria-valuetext').includes(', ${seconds}')`)
      }
      // The first key is heard when the module has come.
      await until('the keys are heard', async () => {
        await page.press('Home')
        return page.run(`wide.view.plot.getAttribute('aria-valuetext') !== 'now'`)
      })
      await press('Home', '3 min 20 s ago')
      await press('End', 'now')
      await press('ArrowLeft', '3 s ago')
      await press('PageDown', '37 s ago')
      await press('ArrowRight', '33 s ago')
      assert.match(await spoken(), /33 s ago: A 3 W, B 300 W$/)
      // A moment that a key has chosen stays the same.
      await page.run(`(async () => { time += 10; wide.tick(); await frame() })()`)
      assert.match(await spoken(), /43 s ago/)
      await page.press('Escape')
      await page.until(`wide.view.plot.getAttribute('aria-valuetext') === 'now' && tags()[0] === null`)
      assert.equal(await page.run(`document.activeElement === wide.view.plot`), true)
      assert.deepEqual(page.faults, [])
    })

    test('a finger leaves the moment where it was, until it touches something else', async () => {
      await page.run(`(async () => { ${FOUR}; for (let i = 0; i < 100 && !door.element.querySelector('.state'); i++) await frame(); scrollTo(0, 0) })()`)
      const touch = async (type, part) => {
        const [x, y] = await page.run(`(() => { const { left, width, top } = near.view.line.element.getBoundingClientRect(); return [left + ${part ?? 0} * width, top + 30] })()`)
        await page.send('Input.dispatchTouchEvent', { type, touchPoints: part === undefined ? [] : [{ x, y }] })
      }
      await page.send('Emulation.setTouchEmulationEnabled', { enabled: true })
      await touch('touchStart', 0.9)
      await page.until(`tags()[1]?.includes('10 s ago')`)
      await touch('touchMove', 0.2)
      await page.until(`tags()[1]?.includes('1 min 20 s ago')`)
      await touch('touchEnd')
      assert.match(await page.run(`(async () => { await frame(); return tags()[1] })()`), /^2 .*1 min 20 s ago$/)
      await page.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: 1400, y: 10 }] })
      await page.until(`tags()[1] === null`)
      await page.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
      assert.deepEqual(page.faults, [])
    })

    test('behind each chart is a table for those who do not see it', async () => {
      await page.run(`(async () => { ${FOUR}; for (let i = 0; i < 100 && document.querySelectorAll('table.unseen').length < 3; i++) await frame() })()`)
      await page.run(`(async () => { time += 11; for (const each of [wide, near, door]) each.tick(); await frame() })()`)
      const tree = await page.accessibility()
      const tables = tree.filter(({ role }) => role === 'table').map(({ name }) => name)
      assert.deepEqual(tables, ['/x.a, last 3 min 20 s', '/y.a, last 1 min 40 s', '/z.a, last 1 min 40 s'])
      const rows = await page.run(`[...document.querySelector('table.unseen').rows].map((row) => [...row.cells].slice(1).map((cell) => cell.innerText.trim()))`)
      assert.deepEqual(rows[0], ['A', 'B'])
      assert.deepEqual(rows[1], ['3 W', '300 W'])
      // The value changed within this part of the time, and before nothing was known.
      assert.ok(rows.some(([a, b]) => a === '2 to 3 W' && b === '200 to 300 W') && rows.some(([a]) => a === '–'), JSON.stringify(rows))
      const door = await page.run(`[...document.querySelectorAll('table.unseen')[2].rows].map((row) => row.cells[1].innerText)`)
      assert.ok(door.includes('Open') && door.includes('Closed') && door.includes('Open, Closed'), door.join())
    })

    test('words of bars are whole or not there, and a gap is a gap', async () => {
      const found = await page.run(`(async () => {
        const card = make('/x.a', { kind: 'timeline', panel: { window: 100 } })
        put(card, 1000, 'critical')
        put(card, 1050, 'somewhere')
        put(card, 1053, 'else')
        put(card, 1060, null)
        put(card, 1080, 'else')
        time = 1100
        for (let i = 0; i < 100 && !card.element.querySelector('.lane'); i++) await frame()
        card.tick()
        await frame()
        return [...card.element.querySelectorAll('.state')].map((each) => [each.innerText, parseFloat(each.style.left), parseFloat(each.style.width), each.classList.contains('is-narrow')])
      })()`)
      assert.deepEqual(found, [['◆ Critical', 0, 50, false], ['somewhere', 50, 3, true], ['else', 53, 7, true], ['else', 80, 20, false]])
    })
  })
})

describe('states', () => {
  test('recorded stretches with one value stand before what the page has seen, and join it', () => {
    const states = new States()
    states.add(2, 100)
    states.fill([{ time: 90, low: 1, high: 1 }, { time: 92, low: 1, high: 1 }, { time: 94, low: 1, high: 2 }, { time: 96, low: 2, high: 2 }, { time: 98, low: 2, high: 2 }], 2, 101)
    assert.deepEqual(states.known, [{ time: 90, end: 94, value: 1 }, { time: 96, end: null, value: 2 }])
  })

  test('an equal report is no change, and there is an end to what is kept', () => {
    const states = new States()
    for (let i = 0; i < 1000; i++) for (let k = 0; k < 3; k++) states.add(i, i)
    assert.equal(states.known.length, 200)
    states.interrupt(1000)
    assert.equal(states.value, null)
    assert.deepEqual(states.known.at(-1), { time: 999, end: 1000, value: 999 })
  })
})
