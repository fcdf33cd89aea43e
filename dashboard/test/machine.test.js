/** What the board of a machine needs: values that are not on their scale, feeds that end, and rows that come and go. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { CHROMIUM, PANELS, ROOT, useBrowser } from './browser.js'

const scene = `agd: 1
nodes:
  - id: m
    component: Cards
    children:
      - id: cpu
        kind: container
        state: { status: ok, busiest: [{ id: a, n: 1 }, { id: b, n: 2 }] }
        children:
          - { id: gauge, state: { x: 20.0 }, containerValues: { panel: { kind: gauge, value: x } } }
          - { id: core, state: { x: 20.0 }, containerValues: { panel: { kind: bar, value: x } } }
          - { id: own, state: { x: 20.0, status: warn }, containerValues: { panel: { kind: bar, value: x } } }
          - id: processes
            kind: container
            containerValues: { panel: { kind: table, title: Busiest } }
            children:
              - forEach: { in: $busiest, id: id, as: each, node: { kind: view, let: { n: =each.n } } }
                id: top
`

describe('the board of a machine', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  const turns = () => page.run(`[...card('/m/cpu/gauge.x').querySelectorAll('.windows .fill')].map((each) => getComputedStyle(each).transform).join()`)
  const shows = (x) => page.until(`textOf('/m/cpu/gauge.x').startsWith('${x}') && document.getAnimations().length === 0`)

  useBrowser([PANELS], { scene }, (on) => ({ site, browser } = on))

  before(async () => {
    page = await browser.open(site.url)
    await page.until(`card('/m/cpu/processes')`)
  })

  test('a gauge is full above its scale, and empty below', async () => {
    const seen = {}
    for (const x of [0, 100, 150, -20]) {
      await site.client.set('/m/cpu/gauge.x', x, { disablesAnimations: true })
      await shows(x)
      seen[x] = await turns()
    }
    assert.equal(seen[150], seen[100])
    assert.equal(seen[-20], seen[0])
    assert.notEqual(seen[100], seen[0])
  })

  test('values below a stale node are stale, until its feed is back', async () => {
    const status = (name) => page.run(`card('/m/cpu/${name}.x').dataset.status`)
    await site.client.set('/m/cpu.status', 'stale')
    await page.until(`card('/m/cpu/core.x').dataset.status === 'stale'`)
    assert.match(await page.run(`textOf('/m/cpu/core.x', '.context')`), /Stale/)
    assert.equal(await status('own'), 'warn')
    await site.client.set('/m/cpu.status', 'critical')
    await page.until(`card('/m/cpu/core.x').dataset.status === 'ok'`)
  })

  test('a table shows what its views name, and keeps its card while its rows come, go and change places', async () => {
    const rows = `[...card('/m/cpu/processes').querySelectorAll('tbody tr')].map((each) => each.innerText).join(' ')`
    await page.run(`window.first = card('/m/cpu/processes')`)
    await page.until(`${rows} === 'A\\t1 B\\t2'`)
    await site.client.set('/m/cpu.busiest', [{ id: 'c', n: 3 }, { id: 'b', n: 2 }, { id: 'a', n: 4 }])
    await page.until(`${rows} === 'C\\t3 B\\t2 A\\t4'`)
    await site.client.set('/m/cpu.busiest', [])
    await page.until(`card('/m/cpu/processes').innerText.includes('Empty')`)
    await site.client.set('/m/cpu.busiest', [{ id: 'b', n: 5 }])
    await page.until(`${rows} === 'B\\t5'`)
    assert.equal(await page.run(`card('/m/cpu/processes') === first`), true)
    assert.deepEqual(page.faults, [])
  })

  test('a change of the structure is one question, however many containers there are', async () => {
    await page.run(`(() => {
      window.asked = []
      const before = window.fetch
      window.fetch = (url, options) => {
        if (options?.body?.includes('"jsonrpc"')) {
          const { method, params } = JSON.parse(options.body)
          asked.push(method + ' ' + (params.at ?? params.path))
        }
        return before(url, options)
      }
    })()`)
    await site.client.set('/m/cpu.busiest', [{ id: 'z', n: 6 }])
    await page.until(`card('/m/cpu/processes').innerText.includes('Z\\t6')`)
    assert.deepEqual(await page.run(`[...new Set(asked)]`), ['board /m'])
  })
})

describe('the host monitor', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser

  useBrowser([join(ROOT, 'Examples/host-monitor.yaml')], {}, (on) => ({ site, browser } = on))

  before(async () => {
    for (const file of [PANELS, join(ROOT, 'Examples/dashboards/host.yaml')]) await site.client.apply(readFileSync(file, 'utf8'), { mode: 'merge' })
  })

  test('other processes each second cost the page no requests', async () => {
    const feed = (names) => site.client.set('/host/processes.top', names.map((name, i) => ({ id: String(names.length + i), name, percent: 10.0 + i, resident: 50_000_000 })))
    await feed(['a', 'b'])
    const page = await browser.open(site.url)
    const rows = `[...card('/host/processes/top.busiest').querySelectorAll('tbody tr')].map((each) => each.innerText).join(' ')`
    await page.until(`${rows} === 'a\\t10 %\\t50 MB b\\t11 %\\t50 MB'`)
    await page.run(`(() => { window.count = 0; const before = window.fetch; window.fetch = (...given) => { count += 1; return before(...given) } })()`)
    for (const name of ['c', 'd', 'e']) {
      await feed([name])
      await page.until(`${rows} === '${name}\\t10 %\\t50 MB'`)
    }
    assert.equal(await page.run('count'), 0)
    await page.close()
  })
})

describe('several boards', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  const twice = (id) => `  - { id: ${id}, kind: container, state: { own: 1 }, children: [
    { id: x, kind: container, children: [{ id: v, state: { n: 1 } }] }, { id: loose, state: { n: 2 } }] }\n`
  let site
  let browser

  useBrowser([], { scene: `nodes:\n${twice('one')}${twice('two')}` }, (on) => ({ site, browser } = on))

  test('each has its own sections, with both names; a part that does not exist is told, and is not live', async () => {
    const titles = (page) => page.run(`[...board().querySelectorAll('h2:not(.unseen)')].map((each) => each.innerText)`)
    const page = await browser.open(site.url)
    await page.until(`board().querySelectorAll('section').length === 4`)
    assert.deepEqual(await titles(page), ['One', 'One · X', 'Two', 'Two · X'])
    const typo = await browser.open(`${site.url}?root=/on`)
    await typo.until(`board().querySelector('.empty').innerText === 'no node on in /'`)
    assert.equal(await typo.run(`document.querySelector('#connection').textContent`), 'no node on in /')
    assert.equal(await typo.run(`document.body.dataset.live`), 'false')
    const alone = await browser.open(`${site.url}?root=/one`)
    await alone.until(`board().querySelectorAll('section').length === 2`)
    assert.deepEqual(await titles(alone), ['X'])
    assert.deepEqual([...page.faults, ...alone.faults], [])
  })

  test('a part that is removed while it is shown is not live until it returns', async () => {
    const page = await browser.open(`${site.url}?root=/two`)
    const says = (text) => page.until(`document.querySelector('#connection').textContent === '${text}'`)
    await says('live')
    const { document } = await site.client.dump('/two', { format: 'scene' })
    await site.client.remove('/two')
    await says('no node two in /')
    await site.client.apply(document)
    await says('live')
    assert.deepEqual(page.faults, [])
  })
})
