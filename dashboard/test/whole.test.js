/** The page around the board: what is wrong, other boards, search and help, and how much of the page the cards cover. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, beforeEach, describe, test } from 'node:test'
import { CHROMIUM, PANELS, ROOT, until, useBrowser } from './browser.js'

const scene = `agd: 1
nodes:
  - id: plant
    component: Cards
    let: { title: Works }
    children:
      - id: pumps
        component: Cards
        containerValues: { panel: { title: Pumps } }
        children:
          - { id: one, state: { status: ok, x: 1 }, containerValues: { panel: { kind: status, value: status, title: Pump one } } }
          - { id: level, state: { x: 20.0 }, containerValues: { panel: { kind: bar, value: x, title: Level, warn: 60, critical: 80 } } }
          - { id: fed, state: { x: 2 }, computed: { y: 1 / (x - 1) }, containerValues: { panel: { kind: value, value: y, title: Fed } } }
          - { id: more, containerValues: { panel: { link: /home, title: To the home } } }
  - id: home
    component: Cards
    children:
      - id: main
        state: { x: 5 }
        containerValues: { panel: { kind: value, value: x, title: Main, featured: true } }
      - id: room
        component: Cards
        children: [{ id: lamp, state: { x: true }, containerValues: { panel: { kind: toggle, value: x, title: Lamp } } }]
`

describe('the board as a whole', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  const status = `document.getElementById('status').innerText.replace(/^(.)\\s*/, '$1 ')`
  const list = `[...document.querySelectorAll('#wrong li')].map((each) => each.innerText.replace(/\\s+/g, ' '))`

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  beforeEach(async () => {
    await page?.close()
    await site.client.transact([
      { op: 'set', path: '/plant/pumps/one.status', value: 'ok' }, { op: 'set', path: '/plant/pumps/level.x', value: 20 }, { op: 'set', path: '/plant/pumps/fed.x', value: 2 },
    ])
    page = await browser.open(`${site.url}?root=/plant`)
    await page.until(`card('/plant/pumps/level.x')?.dataset.status === 'ok'`)
  })

  test('header, title and icon tell the worst status, by shape, word and colour', async () => {
    await page.until(`${status} === '● All is well'`)
    assert.equal(await page.run('document.title'), 'Works')
    assert.match(await page.run(`document.getElementById('title').innerText`), /^Works\s+\S+$/, 'the machine has a name')
    await site.client.set('/plant/pumps/level.x', 70)
    await page.until(`document.title === '▲ 1 warning – Works'`)
    await site.client.set('/plant/pumps/one.status', 'critical')
    await page.until(`${status} === '◆ 1 critical'`)
    assert.match(await page.run(`decodeURIComponent(document.querySelector('link[rel=icon]').href)`), /#b3246b/)
    await site.client.set('/plant/pumps/level.x', 95)
    await page.until(`document.title === '◆ 2 critical – Works'`)
    await site.client.transact([{ op: 'set', path: '/plant/pumps/one.status', value: 'ok' }, { op: 'set', path: '/plant/pumps/level.x', value: 1 }])
    await page.until(`${status} === '● All is well' && document.title === 'Works' && document.querySelector('link[rel=icon]').getAttribute('href') === 'icon.svg'`)
    assert.deepEqual(page.faults, [])
  })

  test('a list tells what is wrong and since when, also if it began before the page was opened', async () => {
    await site.client.set('/plant/pumps/one.status', 'critical')
    await page.close()
    page = await browser.open(`${site.url}?root=/plant`)
    await page.until(`${status} === '◆ 1 critical'`)
    await page.click(`document.getElementById('status')`)
    await page.until(`/^◆ Pump one critical · Pumps · since \\d\\d:\\d\\d/.test(${list}[0])`)
    // It follows while it is open.
    await site.client.set('/plant/pumps/fed.x', 1)
    await page.until(`${list}.length === 2 && /^◆ Fed error · Pumps · since \\d\\d:\\d\\d.* division by zero$/.test(${list}[1])`)
    await page.click(`document.querySelectorAll('#wrong li button')[1]`)
    await page.until(`!document.getElementById('wrong').open && board().activeElement?.closest('.card').dataset.path === '/plant/pumps/fed.y'`)
    await site.client.transact([{ op: 'set', path: '/plant/pumps/one.status', value: 'ok' }, { op: 'set', path: '/plant/pumps/fed.x', value: 2 }])
    await page.until(`${status} === '● All is well'`)
    await page.press('!')
    await page.until(`/^All is well since \\d\\d:\\d\\d/.test(document.getElementById('wrong-title').innerText)`)
    assert.deepEqual(page.faults, [])
  })

  test('a status of the past is no status of the present', async () => {
    await site.client.set('/plant/pumps/one.status', 'critical')
    await page.until(`${status} === '◆ 1 critical'`)
    site.gateway.kill('SIGSTOP')
    await page.until(`document.getElementById('status').hidden && document.title === 'Works'`)
    site.gateway.kill('SIGCONT')
    await page.until(`${status} === '◆ 1 critical'`)
  })

  test('tabs lead to all boards, and a card leads where its link says', async () => {
    const tabs = `[...document.querySelectorAll('#boards a')].map((each) => each.innerText).join()`
    await page.until(`${tabs} === 'Works,Home,All'`)
    assert.equal(await page.run(`document.querySelector('#boards [aria-current=page]').innerText`), 'Works')
    await page.click(`card('/plant/pumps/more').querySelector('a')`)
    await page.until(`card('/home/room/lamp.x') && document.querySelector('#boards [aria-current=page]')?.innerText === 'Home'`)
    await page.click(`document.querySelectorAll('#boards a')[2]`)
    await page.until(`card('/home/room/lamp.x') && card('/plant/pumps/level.x')`)
    // Featured cards stand with their own board.
    const headings = `[...board().querySelectorAll('h2:not(.unseen)')].map((each) => each.innerText)`
    assert.deepEqual(await page.run(headings), ['Works · Pumps', 'Home', 'Home · Room'])
    assert.equal(await page.run(`card('/home/main.x').closest('section').querySelector('h2').innerText`), 'Home')
  })

  test('search and help have buttons, also on a phone', async () => {
    await page.emulate({ width: 390, height: 844 })
    for (const id of ['find', 'help', 'status']) {
      const { width, height, right } = await page.run(`(({ width, height, right }) => ({ width, height, right }))(document.getElementById('${id}').getBoundingClientRect())`)
      assert.ok(width >= 44 && height >= 44 && right <= 390, `${id}: ${width} × ${height} up to ${right}`)
    }
    await page.click(`document.getElementById('find')`)
    await page.send('Input.insertText', { text: 'level' })
    await page.until(`[...board().querySelectorAll('.card')].filter((each) => !each.hidden).length === 1`)
    await page.press('Escape')
    await page.until(`[...board().querySelectorAll('.card')].every((each) => !each.hidden)`)
    await page.click(`document.getElementById('help')`)
    await page.until(`document.getElementById('keys').open`)
    await page.press('Escape')
    await page.until(`!document.getElementById('keys').open`)
    assert.ok((await page.run('document.documentElement.scrollWidth')) <= 390)
  })

  test('headings are in order in the accessibility tree, and Tab goes through the cards as they stand', async () => {
    await page.close()
    for (const root of ['/plant', '/home', '/']) {
      page = await browser.open(`${site.url}?root=${root}`)
      await page.until(`document.body.dataset.live === 'true' && board().querySelector('.card')`)
      const levels = (await page.accessibility()).filter(({ role }) => role === 'heading').map(({ level }) => level)
      assert.equal(levels[0], 1)
      levels.slice(1).forEach((level, i) => assert.ok(level > 1 && level <= levels[i] + 1, `${root}: ${levels}`))
      const places = await page.run(`[...board().querySelectorAll('.card')].map((each) => {
        const { top, left } = each.getBoundingClientRect()
        const { top: band, left: column } = each.closest('section').getBoundingClientRect()
        return [band, column, top, left].map(Math.round)
      })`)
      const before = (a, b) => a.reduce((sign, each, i) => sign || each - b[i], 0) < 0
      places.slice(1).forEach((place, i) => assert.ok(before(places[i], place), `${root}: ${places[i]} before ${place}`))
      if (root !== '/') await page.close()
    }
  })

  test('the error of a card has times as people write them', async () => {
    const { readable } = await import('../format.js')
    assert.match(readable('nobody has written it since 2026-11-28T01:02:03.123456789Z (expires: 30s)', 'en-GB'), /^nobody has written it since [^TZ]*\d\d:\d\d \(expires: 30s\)$/)
  })
})

describe('a control', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page

  useBrowser([PANELS], {
    scene: `agd: 1
nodes:
  - id: b
    kind: group
    state: { isShown: false }
    children:
      - id: all
        component: Cards
        children:
          - id: early
            let: { isShown: $isShown }
            state: { x: 1 }
            containerValues: { panel: '={"kind": "value", "value": "x", "title": "Early", "hidden": !isShown}' }
          - { id: lamp, state: { x: false }, containerValues: { panel: { kind: toggle, value: x, title: Lamp } } }
          - { id: count, state: { x: 0 }, containerValues: { panel: { kind: stepper, value: x, title: Count } } }
`,
  }, (on) => ({ site, browser } = on))

  before(async () => {
    page = await browser.open(site.url)
    await page.until(`card('/b/all/count.x')`)
  })

  const plus = `card('/b/all/count.x').querySelectorAll('button')[1]`
  // A button shrinks while it is pressed; its place does not.
  const place = () => page.run(`(() => {
    const { offsetLeft, offsetTop, offsetWidth } = ${plus}
    const { left, top } = card('/b/all/count.x').getBoundingClientRect()
    return [Math.round(left) + offsetLeft, Math.round(top) + offsetTop, offsetWidth]
  })()`)
  const mouse = async (type, x, y) => page.send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' ? 'none' : 'left', clickCount: 1 })

  test('under the mouse stays where it is while other cards come, and they come when the mouse has gone', async () => {
    const [x, y, width] = await place()
    // A press lasts until the button is released, however long it takes.
    await mouse('mouseMoved', x + width / 2, y + 10)
    await mouse('mousePressed', x + width / 2, y + 10)
    await site.client.set('/b.isShown', true)
    await page.run(`window.asked = new Promise((resolve) => {
      const before = window.fetch
      window.fetch = async (url, options) => {
        const answer = await before(url, options)
        if (options?.body?.includes('"board"')) setTimeout(resolve, 50)
        return answer
      }
    })`)
    await site.client.set('/b.isShown', false)
    await site.client.set('/b.isShown', true)
    await page.run('asked')
    assert.equal(await page.run(`card('/b/all/early.x')`), null)
    assert.deepEqual(await place(), [x, y, width])
    await mouse('mouseReleased', x + width / 2, y + 10)
    await mouse('mouseMoved', 5, 700)
    await page.until(`card('/b/all/early.x')`)
    assert.notDeepEqual(await place(), [x, y, width])
    await until('the press has counted', async () => (await site.client.get('/b/all/count.x')) === 1)
    assert.deepEqual(page.faults, [])
  })
})

describe('the layout of a page', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser

  useBrowser([join(ROOT, 'Examples/host-monitor.yaml')], {}, (on) => ({ site, browser } = on))

  before(async () => {
    for (const file of [PANELS, join(ROOT, 'Examples/dashboards/host.yaml')]) await site.client.apply(readFileSync(file, 'utf8'), { mode: 'merge' })
    await site.client.transact(Object.entries({
      '/host/cpu.cores': Array.from({ length: 4 }, (_, i) => ({ id: `cpu${i}`, busy: 1, total: 2 })),
      '/host/memory.bytes': { total: 16e9, available: 9.4e9, cached: 4e9, swapTotal: 4e9, swapFree: 3.8e9 },
      '/host/network.interfaces': ['eth0', 'wg0'].map((id) => ({ id, received: 1e6, sent: 1e5, errors: 0, isVirtual: false })),
      '/host/disks.devices': ['nvme0n1', 'nvme1n1'].map((id) => ({ id, read: 0, written: 1e6, reads: 0, writes: 20, busy: 40, isVirtual: false })),
      '/host/filesystems.mounts': ['/', '/home', '/srv'].map((id) => ({ id, type: 'ext4', source: id, size: 4.8e11, used: 2e11, free: 2.8e11, inodes: 3e7, usedInodes: 1e6 })),
      '/host/pressure.resources': ['cpu', 'memory', 'io'].map((id) => ({ id, some: 1, full: 0 })),
      '/host/processes.top': ['postgres', 'agd', 'nginx', 'sshd'].map((name, i) => ({ id: String(i), name, percent: 9 - i, resident: 1e8 })),
    }).map(([path, value]) => ({ op: 'set', path, value })))
  })

  /** Percent of the window that cards cover, and the number of cards that it shows as a whole. */
  const measure = (page) => page.run(`(() => {
    const seen = new Uint8Array(innerWidth * innerHeight)
    let whole = 0
    for (const card of board().querySelectorAll('.card')) {
      const box = card.getBoundingClientRect()
      const [left, right] = [Math.max(0, Math.round(box.left)), Math.min(innerWidth, Math.round(box.right))]
      for (let y = Math.max(0, Math.round(box.top)); y < Math.min(innerHeight, Math.round(box.bottom)); y++) seen.fill(1, y * innerWidth + left, y * innerWidth + right)
      if (box.bottom <= innerHeight) whole += 1
    }
    return [100 * seen.reduce((a, b) => a + b, 0) / seen.length, whole]
  })()`)

  for (const [width, height, least] of [[1280, 800, 75], [2560, 1440, 60]]) {
    test(`the board of the host covers ${least} % of ${width} × ${height}`, async (context) => {
      const page = await browser.open(site.url, { width, height })
      await page.until(`card('/host/processes/top.busiest')`)
      const [part, whole] = await measure(page)
      context.diagnostic(`${part.toFixed(1)} %, ${whole} cards`)
      assert.ok(part >= least, `${part} %`)
      assert.ok((await page.run('document.documentElement.scrollWidth')) <= width)
      await page.close()
    })
  }

  test('an address with a density has it, and rows leave no holes', async () => {
    const page = await browser.open(`${site.url}?density=compact`, { width: 1280, height: 800 })
    await page.until(`card('/host/processes/top.busiest') && board().querySelector('.board').classList.contains('compact')`)
    for (const width of [390, 700, 1280, 2000]) {
      await page.emulate({ width, height: 800 })
      const holes = await page.run(`[...board().querySelectorAll('.cards')].flatMap((cards) => {
        const rows = new Map()
        for (const each of cards.querySelectorAll('.card')) rows.set(each.offsetTop, Math.max(rows.get(each.offsetTop) ?? 0, each.getBoundingClientRect().right))
        const edge = cards.getBoundingClientRect().right
        return [...rows.values()].filter((right) => Math.abs(right - edge) > 2).map((right) => cards.closest('section').dataset.key + ' ' + right + ' of ' + edge)
      })`)
      assert.deepEqual(holes, [], `at ${width}`)
    }
    await page.close()
  })

  test('a phone shows 14 tiles of 390 × 844', async () => {
    const views = Array.from({ length: 20 }, (_, i) => ({ id: `v${i}`, state: { x: i }, containerValues: { panel: { kind: i % 2 ? 'value' : 'sparkline', value: 'x' } } }))
    await site.client.apply({ agd: 1, nodes: [{ id: 'tiles', component: 'Cards', children: views }] })
    const page = await browser.open(`${site.url}?root=/tiles`, { width: 390, height: 844 })
    await page.until(`card('/tiles/v19.x')`)
    const [, whole] = await measure(page)
    assert.ok(whole >= 14, `${whole} tiles`)
    await page.close()
  })
})
