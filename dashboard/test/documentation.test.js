/** The examples for pages in Documentation/Dashboard.md and Documentation/Animation.md, and the site, in a browser. */

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Browser, CHROMIUM, PANELS, ROOT, Site } from './browser.js'

const SCENE = `
nodes:
  - { id: host, state: { status: ok }, children: [{ id: cpu, state: { percent: 20.0 } }] }
  - { id: lamp, state: { level: 0.0 } }
`

function examples(page, language) {
  const text = readFileSync(join(ROOT, 'Documentation', page), 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map((match) => match[1])
}

test('every example for a page does what its page says', { skip: CHROMIUM ? false : 'there is no Chromium' }, async () => {
  const html = examples('Dashboard.md', 'html')
  assert.equal(html.length, 2)
  let site
  const server = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html; charset=utf-8')
    answer.end(`<!doctype html><title>Examples</title><div id="light">x</div>
      <script>window.lines = []; console.log = (each) => lines.push(each)</script>
      ${html.join('').replaceAll('http://localhost:7210/', site.url)}`)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${server.address().port}`
  site = await Site.start([PANELS], { scene: SCENE, origins: [origin] })
  const browser = await Browser.start()
  try {
    const page = await browser.open(origin)
    await page.until(`lines.length === 1`)
    assert.deepEqual(await page.run(`lines[0]`), { '/host.status': 'ok' })
    for (const [name, text] of [['agd-value', 'OK'], ['agd-gauge', '20'], ['agd-card', '0']]) {
      await page.until(`document.querySelector('${name}').shadowRoot?.textContent.includes('${text}')`)
    }
    await page.until(`document.querySelector('agd-chart').shadowRoot?.querySelector('svg')`)
    await page.until(`card('/host/cpu.percent')`)

    // The easing of a timeline, as a browser plays it.
    const [easing] = examples('Animation.md', 'js')
    await page.run(`
      window.source = new EventSource('${site.url}watch?path=/lamp.level&css=true')
      source.addEventListener('update', (event) => { window.timeline = JSON.parse(event.data).changes[0].timeline ?? null })`)
    await page.until(`window.timeline === null`)
    await site.client.set('/lamp.level', 1, { animation: 'easeInOut(duration: 100)' })
    await page.until(`window.timeline?.css`)
    const opacity = await page.run(`(() => {
      const [t, element, millisecondsSince] = [timeline, document.getElementById('light'), () => 50_000]
      ${easing}
      return Number(getComputedStyle(element).opacity)
    })()`)
    assert.ok(Math.abs(opacity - 0.5) < 0.01, `${opacity}`)
    assert.deepEqual(page.faults, [])
  } finally {
    await browser.stop()
    await site.stop()
    server.close()
  }
})

const INDEX = join(ROOT, '.build/site/html/index.html')
const reason = CHROMIUM ? (existsSync(INDEX) ? false : 'make site has not been called') : 'there is no Chromium'

test('the site can be searched from its folder, and asks no server for anything', { skip: reason }, async () => {
  const browser = await Browser.start()
  try {
    const page = await browser.open('about:blank')
    const asked = []
    browser.listen(({ method, params }) => method === 'Network.requestWillBeSent' && asked.push(params.request.url))
    await page.send('Page.navigate', { url: `file://${INDEX}` })
    await page.until(`document.querySelector('.md-search')?.hidden === false && document.querySelector('iframe')`)
    await page.run(`(() => {
      const query = document.querySelector('[data-md-component=search-query]')
      query.focus()
      query.value = 'moisture'
      query.dispatchEvent(new Event('input', { bubbles: true }))
      query.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }))
    })()`)
    await page.until(`document.querySelector('.md-search-result__list a')?.href.includes('Tutorial.html')`)
    assert.deepEqual(asked.filter((url) => !/^(file|data|about|blob):/.test(url)), [])
    assert.deepEqual(page.faults, [])
  } finally {
    await browser.stop()
  }
})
