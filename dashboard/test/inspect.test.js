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
    await page.until(`document.querySelector('#transactions li')?.innerText.includes('renaming /plant.name')`)
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
