/** Every board of Examples/dashboards, in light and dark, on a phone and on a wall. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Browser, CHROMIUM, PANELS, ROOT, Site } from './browser.js'


describe('the examples', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let browser

  before(async () => (browser = await Browser.start()))
  after(() => browser?.stop())

  const expected = {
    home: { title: 'Home', featured: 3, path: '/home/doors/front/lock.isLocked', kinds: ['gauge', 'stepper', 'picker', 'toggle', 'color', 'log', 'button'] },
    sensors: { title: 'Greenhouse', featured: 3, path: '/greenhouse/soil/pump.isOn', kinds: ['chart', 'gauge', 'sparkline', 'bar'] },
    ci: { title: 'Builds', featured: 4, path: '/ci/details/table.rows', kinds: ['status', 'value', 'bar', 'table', 'log'] },
    host: { title: 'Host', featured: 4, path: '/host/traffic/received.rate', kinds: ['gauge', 'chart', 'sparkline', 'table'] },
  }

  for (const [name, { title, featured, path, kinds }] of Object.entries(expected)) {
    test(`${name} shows its cards, and none fails`, async () => {
      const scenes = name === 'host' ? [join(ROOT, 'Examples/host-monitor.yaml')] : [PANELS, join(ROOT, `Examples/dashboards/${name}.yaml`)]
      const site = await Site.start(scenes)
      try {
        if (name === 'host') {
          await site.client.apply(readFileSync(PANELS, 'utf8'))
          await site.client.apply(readFileSync(join(ROOT, 'Examples/dashboards/host.yaml'), 'utf8'), { mode: 'merge' })
        }
        const page = await browser.open(site.url)
        await page.until(`card('${path}')`)
        assert.equal(await page.run(`document.getElementById('title').firstChild.data`), title)
        assert.equal(await page.run(`board().querySelectorAll('.featured .card').length`), featured)
        const found = await page.run(`[...new Set([...board().querySelectorAll('.card')].map((each) => each.className.match(/kind-(\\w+)/)[1]))]`)
        for (const kind of kinds) assert.ok(found.includes(kind), `${kind} among ${found}`)
        assert.equal(await page.run(`board().querySelectorAll('.failure').length`), 0)
        for (const [width, scheme] of [[360, 'dark'], [1440, 'light']]) {
          await page.emulate({ width, height: 900, scheme })
          assert.ok((await page.run('document.documentElement.scrollWidth')) <= width)
        }
        assert.deepEqual(page.faults, [])
        await page.close()
      } finally {
        await site.stop()
      }
    })
  }

  test('a board inside another one keeps its title', async () => {
    const site = await Site.start([PANELS, join(ROOT, 'Examples/dashboards/ci.yaml'), join(ROOT, 'Examples/dashboards/home.yaml')])
    try {
      const page = await browser.open(site.url)
      await page.until(`card('/ci/details/table.rows') && card('/home/doors/front/lock.isLocked')`)
      assert.equal(await page.run(`document.getElementById('title').firstChild.data`), 'agd')
      const headings = await page.run(`[...board().querySelectorAll('h2:not(.unseen)')].map((each) => each.textContent)`)
      assert.deepEqual(headings, ['Builds', 'Builds · Projects', 'Builds · Recent', 'Home', 'Home · Climate', 'Home · Lights', 'Home · House'])
      await page.close()
    } finally {
      await site.stop()
    }
  })

  test('a lamp that is switched on gets its slider, and the tint of its row', async () => {
    const site = await Site.start([PANELS, join(ROOT, 'Examples/dashboards/home.yaml')])
    try {
      const page = await browser.open(site.url)
      await page.until(`card('/home/lights/kitchen/switch.isOn')`)
      assert.equal(await page.run(`card('/home/lights/kitchen/dimmer.level')`), null)
      await page.click(`card('/home/lights/kitchen/switch.isOn').querySelector('button')`)
      await page.until(`card('/home/lights/kitchen/dimmer.level')`)
      await page.until(`getComputedStyle(card('/home/lights/kitchen/switch.isOn').querySelector('button')).backgroundColor === 'rgb(143, 95, 0)'`)
      // An action is a button.
      await site.client.set('/home/lights/hall.isOn', true)
      await page.until(`card('/home/lights/hall/dimmer.level') && board().getAnimations({ subtree: true }).length === 0`)
      await page.click(`card('/home/lights/all.off').querySelector('button')`)
      await page.until(`card('/home/lights/kitchen/dimmer.level') === null`)
      assert.equal(await site.client.get('/home/lights/hall.isOn'), false)
      // The environment of the whole tree: dark, and another language.
      await site.client.set('/.colorScheme', 'dark')
      await page.until(`getComputedStyle(document.documentElement).colorScheme === 'dark'`)
      await site.client.set('/.locale', 'de_DE')
      await page.until(`textOf('/home/climate/indoors/temperature.value').startsWith('21,4')`)
      await site.client.set('/.locale', 'ar_EG')
      await page.until(`document.documentElement.dir === 'rtl'`)
    } finally {
      await site.stop()
    }
  })
})
