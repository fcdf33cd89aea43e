/** The page in a real browser, with a real daemon and gateway. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { Browser, CHROMIUM, PANELS, ROOT, Site, sleep, until, useBrowser } from './browser.js'

const SCENE = join(ROOT, 'dashboard/test/every-card.yaml')

describe('the board', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page

  useBrowser([PANELS, SCENE], {}, (on) => ({ site, browser } = on))

  before(async () => {
    page = await browser.open(site.url)
    await page.until(`card('/all/plain.name')`)
  })

  test('there is a card of each kind, and each shows its value', async () => {
    assert.equal(await page.run(`document.getElementById('title').firstChild.data`), 'Every card')
    assert.equal(await page.run(`textOf('/all/shown/value.x').replace(/\\s/g, ' ')`), '12.3V')
    assert.match(await page.run(`textOf('/all/shown/gauge.x')`), /^20\s*%$/)
    assert.equal(await page.run(`card('/all/shown/gauge.x').querySelector('[role=meter]').getAttribute('aria-valuenow')`), '20')
    assert.equal(await page.run(`card('/all/shown/bar.x').querySelector('[role=meter]').getAttribute('aria-valuenow')`), '20')
    assert.equal(await page.run(`textOf('/all/shown/status.x')`), '●OK')
    assert.equal(await page.run(`textOf('/all/shown/text.x', '.prose')`), 'Some words')
    assert.deepEqual(await page.run(`[...card('/all/shown/log.x').querySelectorAll('li')].map((each) => each.innerText.trim())`), ['first', 'second'])
    await page.until(`card('/all/shown/image.x').querySelector('img').naturalWidth === 9`)
    assert.equal(await page.run(`textOf('/all/shown/broken.x', '.failure')`), 'division by zero')
    assert.equal(await page.run(`textOf('/all/shown/odd.x', '.failure')`), 'There is no card of the kind "hologram".')
    assert.equal(await page.run(`card('/all/written/color.x').querySelector('.code').innerText`), '#ff0000')
    assert.deepEqual(await page.run(`[...card('/all/many/feed/table.rows').querySelectorAll('tbody tr')].map((each) => each.innerText)`), ['a\t1', 'b\t2'])
    assert.deepEqual(await page.run(`[...card('/all/many/feed/rows').querySelectorAll('tbody tr')].map((each) => each.innerText)`), ['A\t1', 'B\t2'])
    // A view without a panel has a card for each attribute, by its type.
    assert.equal(await page.run(`textOf('/all/plain.count')`), '3')
    assert.equal(await page.run(`card('/all/plain.isOn').querySelector('[role=switch]').ariaChecked`), 'true')
    assert.deepEqual(page.faults, [])
  })

  test('charts have a line from their first two values on', async () => {
    for (const value of [6, 7, 4]) await site.client.transact([{ op: 'set', path: '/all/shown/chart.x', value }, { op: 'set', path: '/all/shown/spark.x', value }])
    await page.until(`textOf('/all/shown/chart.x') === '4'`)
    await page.until(`/L|V/.test(card('/all/shown/chart.x').querySelector('svg path').getAttribute('d'))`)
    assert.match(await page.run(`card('/all/shown/spark.x').querySelector('.context').innerText`), /4 to 7/)
    assert.equal(await page.run(`card('/all/shown/chart.x').querySelectorAll('.grid').length`), 3)
  })

  test('thresholds change the status of a card, told by a shape and a word', async () => {
    await site.client.set('/all/shown/gauge.x', 85)
    await page.until(`card('/all/shown/gauge.x').dataset.status === 'critical'`)
    assert.match(await page.run(`textOf('/all/shown/gauge.x', '.context')`), /◆ Critical/)
    await site.client.set('/all/shown/gauge.x', 20)
    await page.until(`card('/all/shown/gauge.x').dataset.status === 'ok'`)
    assert.doesNotMatch(await page.run(`textOf('/all/shown/gauge.x', '.context')`), /Critical/)
  })

  test('controls write, and the daemon has the value', async () => {
    await page.click(`card('/all/written/toggle.x').querySelector('button')`)
    await until('the toggle has written', async () => (await site.client.get('/all/written/toggle.x')) === true)
    await page.click(`card('/all/written/stepper.x').querySelectorAll('button')[1]`)
    await until('the stepper has added', async () => (await site.client.get('/all/written/stepper.x')) === 3)
    await page.click(`card('/all/written/button.x').querySelector('button')`)
    await until('the button has counted', async () => (await site.client.get('/all/written/button.x')) === 1)
    await page.click(`card('/all/written/picker.x').querySelectorAll('input')[1]`)
    await until('the picker has written', async () => (await site.client.get('/all/written/picker.x')) === 'b')
    await page.run(`(() => { const field = card('/all/written/field.x').querySelector('textarea'); field.focus(); field.select() })()`)
    await page.send('Input.insertText', { text: 'new' })
    await page.press('Enter')
    await until('the field has written', async () => (await site.client.get('/all/written/field.x')) === 'new')
    await page.run(`(() => { const input = card('/all/written/color.x').querySelector('input'); input.value = '#00ff00'; input.dispatchEvent(new Event('input')) })()`)
    await until('the colour has been written', async () => (await site.client.get('/all/written/color.x')) === '#00ff00')
    assert.equal((await site.client.explain('/all/written/toggle.x')).changed.label, 'dashboard')
  })

  test('a stepper stops at its end', async () => {
    await site.client.set('/all/written/stepper.x', 4)
    await page.until(`card('/all/written/stepper.x').querySelectorAll('button')[1].disabled`)
    assert.equal(await page.run(`card('/all/written/stepper.x').querySelectorAll('button')[0].disabled`), false)
  })

  test('a slider writes at most 30 times a second while it is dragged, and its last value always', async () => {
    const before = (await site.client.stats()).transactions ?? null
    const first = await site.client.set('/all/written/slider.x', 20)
    await page.run(`new Promise((resolve) => {
      const input = card('/all/written/slider.x').querySelector('input')
      let i = 0
      const timer = setInterval(() => {
        i += 1
        input.value = 20 + (i % 50)
        input.dispatchEvent(new Event('input'))
        if (i < 100) return
        clearInterval(timer)
        input.value = 77
        input.dispatchEvent(new Event('input'))
        input.dispatchEvent(new Event('change'))
        resolve()
      }, 4)
    })`)
    await until('the last value has been written', async () => (await site.client.get('/all/written/slider.x')) === 77)
    // Revisions count transactions. Dragging took at least 0.4 s with 100 steps.
    const last = await site.client.set('/all/written/slider.x', 30)
    assert.ok(last - first < 60, `${last - first} transactions (${before})`)
    await page.until(`card('/all/written/slider.x').querySelector('input').value === '30'`)
  })

  test('a refused write is told, and the control shows the true state again', async () => {
    await page.refuseWrites()
    await page.click(`card('/all/written/toggle.x').querySelector('button')`)
    await page.until(`textOf('/all/written/toggle.x', '.context')?.includes('not now')`)
    assert.equal(await page.run(`card('/all/written/toggle.x').querySelector('button').ariaChecked`), 'true')
    await page.allowWrites()
  })

  test('a button calls an action, and tells why it was refused', async () => {
    await page.click(`card('/all/written/action.call').querySelector('button')`)
    await until('the action has added its default', async () => (await site.client.get('/all/written/action.count')) === 2)
    await page.click(`card('/all/written/action.fail').querySelector('button')`)
    await page.until(`textOf('/all/written/action.fail', '.context') === 'division by zero'`)
    assert.equal(await site.client.get('/all/written/action.count'), 2)
    // Its daemon's answer stays until the next call.
    await site.client.set('/all/written/action.count', 3)
    await page.until(`textOf('/all/written/action.count') === '3'`)
    assert.equal(await page.run(`textOf('/all/written/action.fail', '.context')`), 'division by zero')
    assert.equal(await page.run(`card('/all/written/action.ask').querySelector('button').disabled`), true)
    assert.equal(await page.run(`textOf('/all/written/action.ask', '.context')`), 'needs by')
  })

  test('two pages show the same, and one sees what the other writes', async () => {
    const other = await browser.open(site.url)
    await other.until(`card('/all/plain.name')`)
    await page.run(`card('/all/plain.isOn').querySelector('button').click()`)
    await other.until(`card('/all/plain.isOn').querySelector('button').ariaChecked === 'false'`)
    await other.run(`card('/all/written/button.x').querySelector('button').click()`)
    await page.until(`textOf('/all/written/button.x', '.context') === '2'`)
    await other.close()
  })

  test('cards come, go, and are featured by rules of the scene', async () => {
    await site.client.transact([{ op: 'append', path: '/all/many/feed.items', value: { id: 'c', n: 3 } }])
    await page.until(`textOf('/all/many/feed/repeated/c.n') === '3'`)
    await site.client.set('/all/many/feed.items', [{ id: 'c', n: 9 }, { id: 'a', n: 1 }])
    await page.until(`textOf('/all/many/feed/repeated/c.n') === '9' && !card('/all/many/feed/repeated/b.n')`)
    assert.equal(await page.run(`card('/all/many/feed/optional.x').closest('section').className`), '')
    await site.client.set('/all/many/feed.isFeatured', true)
    await page.until(`card('/all/many/feed/optional.x')?.closest('section').className === 'featured'`)
    assert.equal(await page.run(`board().querySelector('.card').dataset.path`), '/all/many/feed/optional.x')
    await site.client.set('/all/many/feed.isShown', false)
    await page.until(`!card('/all/many/feed/optional.x')`)
  })

  test('the slash key searches, Escape ends it', async () => {
    await page.run(`document.activeElement.blur()`)
    await page.press('/')
    await page.send('Input.insertText', { text: 'gauge' })
    await page.until(`[...board().querySelectorAll('.card')].filter((each) => !each.hidden).length === 1`)
    await page.press('Escape')
    await page.until(`[...board().querySelectorAll('.card')].every((each) => !each.hidden)`)
  })

  test('the keyboard reaches controls and operates them', async () => {
    await page.run(`card('/all/written/toggle.x').querySelector('button').focus()`)
    const before = await site.client.get('/all/written/toggle.x')
    await page.press(' ', { code: 'Space' })
    await until('the key has toggled', async () => (await site.client.get('/all/written/toggle.x')) === !before)
    await page.press('Tab')
    assert.equal(await page.run(`board().activeElement.closest('.card').dataset.path`), '/all/written/slider.x')
    const level = await site.client.get('/all/written/slider.x')
    await page.press('Tab')
    await page.press('ArrowRight')
    await until('the arrow key has moved the slider', async () => (await site.client.get('/all/written/slider.x')) === level + 1)
  })

  test('screen readers find roles, names and values', async () => {
    const tree = await page.accessibility()
    const has = (role, name) => tree.some((each) => each.role === role && each.name === name)
    for (const [role, name] of [
      ['heading', 'Every card'], ['heading', 'Shown'], ['heading', 'A gauge'], ['switch', 'A toggle'], ['slider', 'A slider'],
      ['textbox', 'A field'], ['radiogroup', 'A picker'], ['meter', 'A bar'], ['button', 'A button: Count'], ['image', 'An image'],
      ['button', 'A stepper: more'], ['list', 'A log'], ['ColorWell', 'A colour'],
    ]) assert.ok(has(role, name), `${role} ${name}`)
    assert.ok(tree.filter(({ role }) => role === 'article').every(({ name }) => name), 'each card has a name')
    // Only the connection and changes of status are announced.
    const live = await page.run(`[...document.querySelectorAll('[role=status], [aria-live]'), ...board().querySelectorAll('[role=status], [aria-live]')].length`)
    assert.equal(live, 2)
  })

  test('text has a contrast of 4.5, graphics of 3, in light and dark', async () => {
    for (const scheme of ['light', 'dark']) {
      await page.emulate({ scheme })
      const found = await page.run(`(() => {
        const probe = document.body.appendChild(document.createElement('p'))
        const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
        const rgb = (token) => {
          probe.style.color = 'var(' + token + ')'
          canvas.fillStyle = getComputedStyle(probe).color
          canvas.fillRect(0, 0, 1, 1)
          return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
        }
        const light = (token) => rgb(token).map((each) => each / 255)
          .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
          .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0)
        const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05)
        const pairs = {}
        for (const ink of ['--ink', '--muted', '--warn', '--critical', '--stale']) {
          for (const ground of ['--surface', '--page']) pairs[ink + ' on ' + ground] = ratio(ink, ground) / 4.5
        }
        pairs['--on-accent on --accent'] = ratio('--on-accent', '--accent') / 4.5
        pairs['--ink on --track'] = ratio('--ink', '--track') / 4.5
        pairs['--ink on --raised'] = ratio('--ink', '--raised') / 4.5
        for (const mark of ['--accent', '--ok', '--control']) pairs[mark + ' on --surface'] = ratio(mark, '--surface') / 3
        for (const mark of ['--accent', '--warn', '--critical']) pairs[mark + ' on --track'] = ratio(mark, '--track') / 3
        const ground = rgb('--page').join()
        probe.remove()
        return { pairs, ground }
      })()`)
      assert.equal(found.ground, scheme === 'light' ? '243,244,246' : '14,16,19')
      for (const [pair, part] of Object.entries(found.pairs)) assert.ok(part >= 1, `${scheme}: ${pair} has ${part.toFixed(2)} of the contrast`)
    }
    await page.emulate({})
  })

  test('nothing overflows from 360 pixels to 4k, nor from right to left', async () => {
    const other = await browser.open(`${site.url}?dir=rtl`)
    await other.until(`card('/all/plain.name')`)
    for (const each of [page, other]) {
      for (const [width, height] of [[360, 740], [768, 1024], [1440, 900], [3840, 2160]]) {
        await each.emulate({ width, height })
        const wide = await each.run(`[document.documentElement.scrollWidth, ...[...board().querySelectorAll('.card')]
          .map((card) => Math.ceil(card.getBoundingClientRect().right))].reduce((a, b) => Math.max(a, b))`)
        assert.ok(wide <= width, `${wide} in ${width}`)
        const left = await each.run(`Math.min(...[...board().querySelectorAll('.card')].map((card) => card.getBoundingClientRect().left))`)
        assert.ok(left >= 0)
        const small = await each.run(`[...board().querySelectorAll('button, select, input:not([type=radio]):not([type=color])')]
          .filter((each) => !each.classList.contains('switch') && each.getBoundingClientRect().height < 43.5).map((each) => each.outerHTML)`)
        assert.deepEqual(small, [])
      }
    }
    // A slider is filled from the side at which it begins.
    const side = (each) => each.run(`getComputedStyle(card('/all/written/slider.x').querySelector('input')).getPropertyValue('--side')`)
    assert.match(await side(page), /to right/)
    assert.match(await side(other), /to left/)
    await page.emulate({})
    await other.close()
  })

  test('the daemon killed and back: every card tells its age meanwhile, and the page resumes by itself', async () => {
    await site.killDaemon()
    await page.until(`document.getElementById('connection').textContent === 'no connection'`, 10)
    await page.until(`/^\\d+ s ago$/.test(textOf('/all/plain.count', '.context'))`)
    assert.ok(await page.run(`[...board().querySelectorAll('.card')].every((each) => each.classList.contains('is-old') && / ago$/.test(each.querySelector('.context').innerText))`))
    const spoken = (await page.accessibility()).filter(({ role, name }) => role === 'StaticText' && / ago$/.test(name ?? ''))
    assert.ok(spoken.length > 10, 'screen readers read the ages')
    await site.startDaemon()
    await page.until(`document.getElementById('connection').textContent === 'live'`)
    await site.client.set('/all/plain.count', 42)
    await page.until(`textOf('/all/plain.count') === '42' && !card('/all/plain.count').classList.contains('is-old')`)
  })

  test('the network gone: the page says so within 6 seconds, and shows the newest values on return', async () => {
    // The gateway is stopped like a machine that no longer answers: connections stay open.
    site.gateway.kill('SIGSTOP')
    const start = Date.now()
    await page.until(`document.getElementById('connection').textContent === 'no connection'`, 8)
    assert.ok(Date.now() - start < 7000)
    await site.client.set('/all/plain.count', 43)
    await sleep(300)
    assert.equal(await page.run(`textOf('/all/plain.count')`), '42')
    site.gateway.kill('SIGCONT')
    await page.until(`textOf('/all/plain.count') === '43' && document.getElementById('connection').textContent === 'live'`)
    assert.deepEqual(page.faults, [])
  })

  test('the gateway restarted: the page comes back', async () => {
    await site.stopGateway()
    await page.until(`document.getElementById('connection').textContent === 'no connection'`, 10)
    await site.startGateway()
    await site.client.set('/all/plain.count', 44)
    await page.until(`textOf('/all/plain.count') === '44'`)
  })
})

describe('a gateway that only reads', { skip: CHROMIUM ? false : 'there is no Chromium' }, () => {
  test('controls are disabled and say why, and values are live all the same', async () => {
    const site = await Site.start([PANELS, SCENE], { isWritable: false })
    const browser = await Browser.start()
    try {
      const page = await browser.open(`${site.url}?root=/all/written`)
      await page.until(`card('/all/written/toggle.x')?.querySelector('button').disabled`)
      assert.match(await page.run(`card('/all/written/toggle.x').querySelector('button').title`), /--writable/)
      for (const [path, part] of [['slider', 'input'], ['stepper', 'button'], ['field', 'textarea'], ['picker', 'input'], ['button', 'button']]) {
        assert.equal(await page.run(`card('/all/written/${path}.x').querySelector('${part}').disabled`), true, path)
      }
      await site.client.set('/all/written/toggle.x', true)
      await page.until(`card('/all/written/toggle.x').querySelector('button').ariaChecked === 'true'`)
    } finally {
      await browser.stop()
      await site.stop()
    }
  })
})
