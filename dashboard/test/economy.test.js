/** What pages cost: requests, streams, and the time until the first value. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Browser, CHROMIUM, PANELS, ROOT, Site, until, useBrowser } from './browser.js'

/** The streams that the gateway has open. */
async function streamsOf(site) {
  const text = await (await fetch(`${site.url}metrics`)).text()
  return Number(/^agd_gateway_pages (\d+)$/m.exec(text)[1])
}

describe('requests', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser

  useBrowser([join(ROOT, 'Examples/host-monitor.yaml')], {}, (on) => ({ site, browser } = on))

  before(async () => {
    for (const file of [PANELS, join(ROOT, 'Examples/dashboards/host.yaml')]) await site.client.apply(readFileSync(file, 'utf8'), { mode: 'merge' })
  })

  test('the page of the host asks for little before its first value, and for nothing after it', async (context) => {
    const top = (name) => [{ id: name, name, percent: 1.5, resident: 1e6 }]
    await site.client.set('/host/processes.top', top('name0'))
    const page = await browser.open('about:blank')
    await page.send('Page.addScriptToEvaluateOnNewDocument', { source: `
      window.asked = []
      const before = window.fetch
      window.fetch = (url, options) => {
        const body = options?.body ? JSON.parse(options.body) : null
        asked.push(String(url).split('/').at(-1) + ' ' + [body].flat().map((each) => each?.method ?? 'watch').join())
        return before(url, options)
      }
      const look = () => {
        if (document.querySelector('agd-board')?.shadowRoot?.textContent.includes('name0')) window.first = performance.now()
        else requestAnimationFrame(look)
      }
      look()` })
    await page.send('Page.navigate', { url: site.url })
    await page.until('window.first')
    context.diagnostic(`the first value is there after ${Math.round(await page.run('first'))} ms`)
    const asked = await page.run('asked')
    context.diagnostic(asked.join('; '))
    assert.ok(asked.length <= 8, asked.join('; '))
    assert.equal(asked.filter((each) => each.includes('history')).length, 1, 'all charts are one request')
    for (let i = 1; i <= 3; i++) {
      await site.client.set('/host/processes.top', top(`name${i}`))
      await page.until(`card('/host/processes/top.busiest').innerText.includes('name${i}')`)
    }
    assert.deepEqual(await page.run('asked'), asked)
    assert.deepEqual(page.faults, [])
    await page.close()
  })
})

describe('tabs', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  const pages = []
  const value = `textOf('/n/v.x')`
  const scene = `agd: 1\nnodes: [{ id: n, component: Cards, children: [{ id: v, state: { x: 1 }, containerValues: { panel: { kind: value, value: x } } }, { id: w, state: { y: 1 }, containerValues: { panel: { kind: value, value: y } } }] }]\n`
  const hide = (page, isHidden) => page.run(`(() => {
    Object.defineProperty(document, 'hidden', { get: () => ${isHidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })()`)
  const streams = (count) => until(`there are ${count} streams`, async () => (await streamsOf(site)) === count)

  before(async () => {
    site = await Site.start([PANELS], { scene })
    browser = await Browser.start()
  })
  after(async () => {
    await browser?.stop()
    await site?.stop()
  })

  test('eight tabs share one stream, and all of them are live', async () => {
    for (let i = 0; i < 8; i++) {
      const page = await browser.open(`${site.url}${i % 2 ? '?root=/n/v' : ''}`)
      await page.until(`${value} === '1' && document.body.dataset.live === 'true'`)
      pages.push(page)
    }
    await streams(1)
    await site.client.set('/n/v.x', 2)
    for (const page of pages) await page.until(`${value} === '2'`)
    for (const page of pages) assert.deepEqual(page.faults, [])
  })

  test('the others go on when the tab that reads is closed or is hidden', async () => {
    await pages.shift().close()
    await site.client.set('/n/v.x', 3)
    for (const page of pages) await page.until(`${value} === '3'`)
    await hide(pages[0], true)
    await site.client.set('/n/v.x', 4)
    for (const page of pages.slice(1)) await page.until(`${value} === '4'`)
    assert.equal(await pages[0].run(value), '3', 'nobody sees it')
    await streams(1)
  })

  test('without a tab that somebody sees there is no stream; a tab that is seen again shows the newest value', async () => {
    for (const page of pages) await hide(page, true)
    await streams(0)
    await site.client.set('/n/v.x', 5)
    await hide(pages[2], false)
    await pages[2].until(`${value} === '5' && document.body.dataset.live === 'true'`)
    await streams(1)
    for (const page of pages) await hide(page, false)
    for (const page of pages) await page.until(`${value} === '5'`)
    await streams(1)
  })

  test('each tab says when the gateway does not answer, and all come back', async () => {
    site.gateway.kill('SIGSTOP')
    for (const page of pages) await page.until(`document.getElementById('connection').textContent === 'no connection'`)
    site.gateway.kill('SIGCONT')
    await site.client.set('/n/v.x', 6)
    for (const page of pages) await page.until(`${value} === '6' && document.body.dataset.live === 'true'`)
    await streams(1)
    for (const page of pages) assert.deepEqual(page.faults, [])
  })
})
