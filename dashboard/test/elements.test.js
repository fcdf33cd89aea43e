/** The elements on a page of another origin. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Browser, CHROMIUM, PANELS, ROOT, Site } from './browser.js'

/** All modules that a module imports, with itself. */
function modules(name, found = new Set()) {
  if (found.has(name)) return found
  found.add(name)
  const text = sourceOf(name)
  for (const [, each] of text.matchAll(/^(?:import|export) [^'"]*from '\.\/([a-z]+\.js)'|^import '\.\/([a-z]+\.js)'/gm)) if (each) modules(each, found)
  return found
}

function sourceOf(name) {
  try {
    return readFileSync(join(ROOT, 'dashboard', name), 'utf8')
  } catch {
    return readFileSync(join(ROOT, 'clients/javascript', name), 'utf8')
  }
}

test('all modules of the elements take at most 60 kB compressed', () => {
  const found = modules('elements.js')
  assert.ok(found.has('curves.js') && found.has('cards.js') && found.has('gateway.js'), [...found].join(' '))
  const size = (names) => names.reduce((sum, name) => sum + gzipSync(sourceOf(name)).length, 0)
  assert.ok(size([...found]) <= 60_000, `${size([...found])} bytes`)
  // The first board loads these.
  const more = [...modules('board.js')].filter((each) => !found.has(each))
  assert.ok(more.includes('layout.js') && size(more) <= 12_500, `${more}: ${size(more)} bytes`)
})

describe('elements', { skip: CHROMIUM ? false : 'there is no Chromium' }, () => {
  test('a page of another origin shows values, a gauge, a chart and a board with one script', async () => {
    let site
    const server = createServer((_, answer) => {
      answer.setHeader('Content-Type', 'text/html; charset=utf-8')
      answer.end(`<!doctype html><title>Another page</title><style>.card, p { color: red; font-size: 99px }</style>
        <script type="module" src="${site.url}elements.js"></script>
        <agd-value id="value" path="/all/shown/value.x" label="Mine" unit="kW"></agd-value>
        <agd-gauge id="gauge" path="/all/shown/gauge.x" max="40"></agd-gauge>
        <agd-chart id="chart" path="/all/shown/chart.x" window="60"></agd-chart>
        <agd-value id="missing" path="/all/shown/nothing.x"></agd-value>
        <agd-board root="/all/written"></agd-board>`)
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${server.address().port}`
    site = await Site.start([PANELS, join(ROOT, 'dashboard/test/every-card.yaml')], { origins: [origin] })
    const browser = await Browser.start()
    try {
      const page = await browser.open(origin)
      const inside = (id, part) => `document.getElementById('${id}').shadowRoot?.querySelector('${part}')?.innerText.replace(/\\s+/g, ' ')`
      // A path that does not exist costs the others nothing.
      await page.until(`${inside('value', '.value')} === '12.3kW'`)
      assert.equal(await page.run(inside('value', 'h3')), 'Mine')
      await page.until(`${inside('gauge', '.value')}?.startsWith('20')`)
      await page.until(`document.getElementById('chart').shadowRoot?.querySelector('svg.chart')`)
      await page.until(`${inside('missing', '.failure')}?.includes('nothing')`)
      await page.until(`card('/all/written/toggle.x')`)
      await site.client.set('/all/shown/value.x', 70.5)
      await page.until(`${inside('value', '.value')} === '70.5kW'`)
      // A card of a board opens here as well.
      await page.click(`card('/all/written/toggle.x').querySelector('h3 button')`)
      await page.until(`board().querySelector('dialog[open] .walk, dialog[open] .facts')`)
      await page.press('Escape')
      await page.until(`!board().querySelector('dialog')`)
      // Attributes may change, and elements may move in the page.
      await page.run(`document.getElementById('value').setAttribute('path', '/all/shown/gauge.x')`)
      await page.until(`${inside('value', '.value')} === '20kW'`)
      // The page's own rules do not reach into the elements.
      assert.notEqual(await page.run(`getComputedStyle(document.getElementById('value').shadowRoot.querySelector('h3')).fontSize`), '99px')
      assert.deepEqual(page.faults, [])
    } finally {
      await browser.stop()
      await site.stop()
      server.close()
    }
  })
})
