/** The inspector in a real browser. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Browser, CHROMIUM, Site, until, useBrowser } from './browser.js'

const SIZE = 5000
const scene = `
agd: 1
nodes:
  - id: plant
    state: { rows: [] , level: 2.0, name: fern, limit: 0 }
    computed: { double: level * 2.0, broken: 1 / limit }
    children:
      - { id: pot, let: { level: $level }, computed: { half: level / 2.0 } }
      - id: many
        forEach: { in: $rows, id: self, as: n, node: { kind: view, computed: { x: n } } }
`

describe('the inspector', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  const row = (path) => `document.getElementById('row-${path}')`
  const detail = `document.getElementById('detail').innerText`

  useBrowser([], { scene }, (on) => ({ site, browser } = on))

  before(async () => {
    await site.client.set('/plant.rows', Array.from({ length: SIZE }, (_, i) => i), { label: 'fill' })
    page = await browser.open(`${site.url}inspect.html?path=${encodeURIComponent('/plant.double')}`)
    await page.until(`${detail}.includes('level * 2.0')`)
  })

  test('it says who changed an attribute, when, with which label, and by which rules', async () => {
    await site.client.set('/plant.level', 3, { label: 'watering' })
    await page.until(`${detail}.includes('watering') && ${detail}.includes('test (process')`)
    await page.until(`${detail}.includes('/plant.double ← /plant.level')`)
  })

  test('values in the tree are live', async () => {
    await site.client.set('/plant.level', 4)
    await page.until(`${row('/plant.double')}.querySelector('.live').innerText === '8'`)
    await page.until(`${row('/plant.broken')}.querySelector('.live').innerText === 'division by zero'`)
  })

  test('the page walks along inputs and readers', async () => {
    const button = (name) => `[...document.querySelectorAll('.graph button')].find((each) => each.querySelector('b').innerText === '${name}')`
    await page.run(`${button('level')}.click()`)
    await page.until(`document.querySelector('#detail h2').innerText === '/plant.level' && ${button('double')}`)
    assert.equal(await page.run(`document.querySelectorAll('.graph path').length`), await page.run(`document.querySelectorAll('.graph button').length`))
    assert.equal(new URL(await page.run('location.href')).searchParams.get('path'), '/plant.level')
  })

  test('the editor writes with an animation, and its motion is drawn', async () => {
    assert.equal(await page.run(`document.querySelectorAll('form svg path').length`), 1)
    await page.run(`(() => {
      const form = document.querySelector('form')
      form.querySelector('select').value = '4'
      form.querySelector('select').dispatchEvent(new Event('change'))
      form.querySelector('input').value = '9.5'
      form.requestSubmit()
    })()`)
    await until('the value has been written', async () => (await site.client.get('/plant.level')) === 9.5)
    await page.until(`document.querySelector('form .answer').innerText.startsWith('Set at revision')`)
    await page.run(`document.querySelector('form input').value = '"nine"'; document.querySelector('form').requestSubmit()`)
    await page.until(`document.querySelector('.answer.is-bad')?.innerText.length > 10`)
    assert.equal(await site.client.get('/plant.level'), 9.5)
  })

  test('transactions appear as they happen, with their labels', async () => {
    await site.client.set('/plant.name', 'oak', { label: 'renaming' })
    await page.until(`/renaming test.*\\n+\\/plant\\.name fern → oak/.test(document.querySelector('#transactions li')?.innerText)`)
  })

  test('the search finds nodes, and of many rows only those in sight are made', async () => {
    const type = (text) => page.run(`(() => { const search = document.getElementById('search'); search.value = '${text}'; search.dispatchEvent(new Event('input')) })()`)
    await type('/plant/many/')
    // Each instance is a node with its element, its index and x.
    await page.until(`parseInt(document.getElementById('found').innerText) === ${4 * SIZE}`)
    assert.ok((await page.run(`document.querySelectorAll('.row').length`)) < 80)
    await page.run(`document.getElementById('tree').scrollTop = 1e7`)
    await page.until(`[...document.querySelectorAll('.row')].at(-1).innerText.includes('${SIZE - 1}')`)
    assert.ok((await page.run(`document.querySelectorAll('.row').length`)) < 80)
    await type('')
  })

  test('the keyboard moves through the tree', async () => {
    await page.run(`document.getElementById('tree').scrollTop = 0; document.getElementById('tree').focus()`)
    await page.press('Home', { text: '' })
    await page.until(`document.querySelector('[aria-selected=true]')?.id === 'row-/'`)
    await page.press('ArrowDown', { text: '' })
    await page.until(`document.querySelector('[aria-selected=true]')?.id !== 'row-/'`)
  })

  test('screen readers find the tree and its levels, and nothing went wrong', async () => {
    const tree = await page.accessibility()
    assert.ok(tree.some(({ role, name }) => role === 'tree' && name === 'Nodes and attributes'))
    assert.ok(tree.some(({ role, level }) => role === 'treeitem' && level === 2))
    assert.ok(Number(await page.run(`[...document.querySelectorAll('#counters tr')].find((each) => each.innerText.startsWith('Nodes')).children[1].innerText.replace(/\\D/g, '')`)) > SIZE)
    assert.deepEqual(page.faults, [])
  })

  test('it says which error an attribute has', async () => {
    const other = await browser.open(`${site.url}inspect.html?path=${encodeURIComponent('/plant.broken')}`)
    await other.until(`/Error\\s+division by zero/.test(${detail})`)
    assert.deepEqual(other.faults, [])
  })

  test('nothing overflows on a phone', async () => {
    await page.emulate({ width: 360, height: 740 })
    assert.ok((await page.run('document.documentElement.scrollWidth')) <= 360)
  })
})

describe('what the inspector finds', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page
  const small = `
agd: 1
nodes:
  - id: plant
    state: { level: 2.0, name: fern, limit: 0, isWet: true }
    computed: { double: level * 2.0, broken: 1 / limit }
    children:
      - { id: "pot.1", let: { level: $double }, computed: { half: double(level) / 4.0, quarter: half / 2.0 } }
`
  const type = (text, id = 'search') => page.run(`(() => { const search = document.getElementById('${id}'); search.value = ${JSON.stringify(text)}; search.dispatchEvent(new Event('input')) })()`)
  const finds = (...paths) => page.until(`[...document.querySelectorAll('.row')].map((each) => each.id.slice(4)).sort().join() === ${JSON.stringify(paths.sort().join())}`)
  const shown = `[...document.querySelectorAll('#transactions li')].map((each) => each.innerText.replace(/\\s+/g, ' '))`

  useBrowser([], { scene: small }, (on) => ({ site, browser } = on))

  before(async () => {
    await site.client.set('/plant.name', 'ivy')
    page = await browser.open(`${site.url}inspect.html?path=${encodeURIComponent('/plant.double')}`, { width: 1440, height: 1000 })
    await page.until(`document.getElementById('detail').innerText.includes('level * 2.0') && document.querySelectorAll('.graph button').length === 2`)
    await page.until(`document.getElementById('connection').innerText === 'live'`)
  })

  test('the search finds values, errors, types and writers, also from before the page was opened', async () => {
    await type('value:IVY')
    await finds('/plant.name')
    await type('value:>=2 plant type:double')
    await finds('/plant.level', '/plant.double', '/plant/"pot.1".level')
    await type('error:zero')
    await finds('/plant.broken')
    await type('type:bool plant')
    await finds('/plant.isWet')
    await type('writer:test')
    await finds('/plant.name')
    await type('changed:soon')
    await page.until(`document.getElementById('found').innerText === 'soon is no time. A time is 30s, 5m or 2h.'`)
    await type('pot')
    await finds('/plant/"pot.1"', '/plant/"pot.1".level', '/plant/"pot.1".half', '/plant/"pot.1".quarter')
  })

  test('what fails now is counted, and follows the graph', async () => {
    await type('')
    await page.until(`document.getElementById('failing').innerText === 'Failing now 1'`)
    await page.click(`document.getElementById('failing')`)
    assert.equal(await page.run(`document.getElementById('search').value + document.getElementById('failing').ariaPressed`), 'error:true')
    await finds('/plant.broken')
    await site.client.set('/plant.limit', 4)
    await finds()
    await page.until(`document.getElementById('failing').innerText === 'Failing now'`)
    await page.click(`document.getElementById('failing')`)
    assert.equal(await page.run(`document.getElementById('search').value`), '')
    // What has changed meanwhile, with what rules made of it.
    await type('changed:1m writer:test')
    await finds('/plant.broken', '/plant.limit', '/plant.name')
    await type('')
  })

  test('transactions have the values before and after, a filter and a pause', async () => {
    await site.client.set('/plant.level', 3, { label: 'watering' })
    await page.until(`/watering test.* \\/plant\\.\\w+ \\S+ → \\S+/.test(${shown}[0]) && ${shown}[0].includes('/plant.level 2 → 3')`)
    await page.click(`document.querySelector('#transactions summary')`)
    await page.until(`${shown}[0].includes('/plant/"pot.1".quarter 0.5 → 0.75')`)
    await type('limit', 'sieve')
    await page.until(`${shown}.length === 1 && ${shown}[0].includes('/plant.limit 0 → 4')`)
    await type('', 'sieve')
    // The list is drawn with the next frame, and moves what is around it.
    await page.until(`${shown}.length > 1`)
    await page.click(`document.getElementById('pause')`)
    await page.until(`document.getElementById('pause').innerText === 'Go on'`)
    const count = await page.run(`${shown}.length`)
    await site.client.set('/plant.name', 'oak')
    await page.until(`document.getElementById('pause').innerText === 'Go on · 1 new'`)
    assert.equal(await page.run(`${shown}.length`), count)
    await page.click(`document.getElementById('pause')`)
    await page.until(`${shown}[0].includes('/plant.name ivy → oak')`)
  })

  test('the graph has values, which are live, and more levels', async () => {
    const value = (name) => `[...document.querySelectorAll('.graph .node')].find((each) => each.querySelector('b').innerText === '${name}')?.querySelector('.value').innerText`
    await page.until(`${value('double')} === '6' && document.querySelectorAll('.graph button').length === 2`)
    await page.click(`document.querySelectorAll('.levels button')[2]`)
    await page.until(`${value('half')} === '1.5' && ${value('quarter')} === '0.75'`)
    assert.equal(await page.run(`document.querySelectorAll('.graph path').length`), 4)
    await site.client.set('/plant.level', 4)
    await page.until(`${value('half')} === '2' && ${value('quarter')} === '1' && ${value('double')} === '8'`)
  })

  test('a recording shows which rules run, and ends', async () => {
    await page.click(`document.getElementById('record')`)
    const cell = (path, i) => `[...document.querySelector('#rules > div').shadowRoot.querySelectorAll('tbody tr')].find((each) => each.cells[0].innerText === '${path}').cells[${i}].innerText`
    await until('the rule has run', async () => {
      await site.client.set('/plant.level', Math.random())
      return page.run(`(() => { try { return Number(${cell('/plant.double', 1)}) > 0 } catch { return false } })()`)
    })
    assert.match(await page.run(cell('/plant.double', 2)), /ms$/)
    await page.click(`document.getElementById('record')`)
    await page.until(`document.getElementById('record').innerText === 'Record the rules'`)
    assert.equal((await site.client.call('trace')).enabled, false)
    assert.deepEqual(page.faults, [])
  })
})

describe('the inspector of a tree that is too large for one answer', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page

  before(async () => {
    const views = (group) => Array.from({ length: 20 }, (_, n) => `{ id: n${n}, state: { x: ${group} } }`).join(', ')
    const groups = Array.from({ length: 30 }, (_, n) => `  - { id: g${n}, kind: container, children: [${views(n)}] }\n`)
    const scene = `agd: 1\nnodes:\n${groups.join('')}`
    site = await Site.start([], { scene, settings: ['described-nodes = 100'] })
    browser = await Browser.start()
    page = await browser.open(`${site.url}inspect.html`)
    await page.until(`document.getElementById('search')`)
  })

  after(async () => {
    await browser?.stop()
    await site?.stop()
  })

  test('the search loads what it has not seen', async () => {
    assert.equal(await page.run(`document.getElementById('row-/g7/n3')`), null)
    await page.run(`(() => { const search = document.getElementById('search'); search.value = 'g7/n19'; search.dispatchEvent(new Event('input')) })()`)
    await page.until(`document.getElementById('found').innerText === '2 found'`)
    assert.ok(await page.run(`document.getElementById('row-/g7/n19.x').innerText.includes('7')`))
    await page.run(`(() => { const search = document.getElementById('search'); search.value = ''; search.dispatchEvent(new Event('input')) })()`)
    await page.until(`document.getElementById('found').innerText === ''`)
    assert.deepEqual(page.faults, [])
  })
})

describe('the inspector of a daemon with a short history', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser

  useBrowser([], { scene, settings: ['history-length = 1'] }, (on) => ({ site, browser } = on))

  test('of an attribute that has not changed, it says what explain says, and names nobody', async () => {
    for (const level of [3, 4]) await site.client.set('/plant.level', level)
    const { changed } = await site.client.explain('/plant.limit')
    assert.ok(changed.reason)
    const page = await browser.open(`${site.url}inspect.html?path=${encodeURIComponent('/plant.limit')}`)
    await page.until(`document.getElementById('detail').innerText.includes(${JSON.stringify(changed.reason)})`)
    assert.equal(await page.run(`document.getElementById('detail').innerText.includes('Changed by')`), false)
    assert.deepEqual(page.faults, [])
  })
})
