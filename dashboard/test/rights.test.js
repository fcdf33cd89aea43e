/** The page for people with different rights, each with a token. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { CHROMIUM, PANELS, ROOT, until, useBrowser } from './browser.js'

describe('rights', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  let page

  useBrowser([PANELS, join(ROOT, 'dashboard/test/every-card.yaml')], {
    access: ['read as:wall /**', 'write as:owner /**', 'read as:guest /all/shown/**'], tokens: ['wall', 'owner', 'guest'],
  }, (on) => ({ site, browser } = on))

  /** Opens the page and enters a token in its form. */
  async function enter(name, address = '') {
    await page?.send('Network.clearBrowserCookies')
    await page?.close()
    page = await browser.open(site.url + address)
    await page.until(`document.querySelector('input[name=token]')`)
    await page.run(`document.querySelector('input[name=token]').focus()`)
    await page.send('Input.insertText', { text: site.tokens[name] })
    await page.press('Enter')
  }

  test('a page without a token shows a form, and a wrong token no board', async () => {
    page = await browser.open(site.url)
    await page.until(`location.pathname === '/login'`)
    await page.run(`document.querySelector('input[name=token]').focus()`)
    await page.send('Input.insertText', { text: 'wrong' })
    await page.press('Enter')
    await page.until(`document.body.innerText.includes('token') && !document.querySelector('agd-board')`)
  })

  test('a reader sees all cards, and is told why nothing can be changed', async () => {
    await enter('wall')
    await page.until(`card('/all/plain.name')`)
    await page.click(`card('/all/written/toggle.x').querySelector('button')`)
    await page.until(`/denied|right|allow|may/.test(textOf('/all/written/toggle.x', '.context'))`)
    assert.equal(await page.run(`card('/all/written/toggle.x').querySelector('button').ariaChecked`), 'false')
    assert.equal(await site.client.get('/all/written/toggle.x'), false)
    await site.client.set('/all/plain.count', 9)
    await page.until(`textOf('/all/plain.count') === '9'`)
  })

  test('a writer writes, and explain names the principal', async () => {
    await enter('owner')
    await page.until(`card('/all/plain.name')`)
    await page.click(`card('/all/written/toggle.x').querySelector('button')`)
    await until('the toggle has written', async () => (await site.client.get('/all/written/toggle.x')) === true)
    assert.equal((await site.client.explain('/all/written/toggle.x')).changed.client.as, 'owner')
  })

  test('a reader of a part sees that part, and is told about the rest', async () => {
    await enter('guest')
    await page.until(`/denied|right|may not/.test(board()?.querySelector('.empty')?.innerText)`)
    await page.close()
    page = await browser.open(`${site.url}?root=/all/shown`)
    await page.until(`textOf('/all/shown/value.x')`)
    assert.equal(await page.run(`card('/all/plain.name')`), null)
  })

  test('a page whose token is withdrawn says so, and not that the connection is lost', async () => {
    await enter('wall')
    await page.until(`card('/all/plain.name')`)
    writeFileSync(site.tokenFile, '')
    await page.until(`document.querySelector('#connection').textContent === 'this needs a token'`)
    assert.equal(await page.run(`card('/all/plain.name').classList.contains('is-old')`), true)
  })
})
