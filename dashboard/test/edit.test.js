/** Editing a board on the page. What a page writes is a layer at the board's node. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { add, find, forget, hidden, hide, isEmpty, move, moveInto, said, say } from '../draft.js'
import { CHROMIUM, PANELS, until, useBrowser } from './browser.js'

describe('the document of a layer', () => {
  const empty = () => ({ agd: 1, nodes: [] })
  const card = { node: '/home/a/"x y"', path: '/home/a/"x y".n', panel: {} }

  test('says only what was changed, below the nodes around it, and nothing when it is taken back', () => {
    const document = empty()
    say(document, '/home', card, 'title', 'Mine')
    say(document, '/home', { ...card, isAutomatic: true }, 'kind', 'bar')
    const node = { id: 'x y', containerValues: { 'panel.title': 'Mine', 'panel.cards.n.kind': 'bar' } }
    assert.deepEqual(document.nodes, [{ id: 'a', children: [node] }])
    assert.deepEqual(said(document, '/home', card), { title: 'Mine' })
    forget(document, '/home', card)
    say(document, '/home', { ...card, isAutomatic: true }, 'kind', undefined)
    assert.ok(isEmpty(document))
  })

  test('has positions for what was moved alone', () => {
    const document = empty()
    const cards = ['p', 'q', 'r', 's'].map((id) => ({ node: `/home/${id}`, path: `/home/${id}.n`, panel: {} }))
    move(document, '/home', cards, 3, 0)
    assert.deepEqual(document.nodes, [{ id: 's', containerValues: { 'panel.position': 1 } }])
    const order = [{ ...cards[3], panel: { position: 1 } }, ...cards.slice(0, 3)]
    move(document, '/home', order, 1, 0)
    assert.deepEqual(document.nodes.map(({ id, containerValues }) => [id, containerValues['panel.position']]), [['s', 2], ['p', 1]])
  })

  test('a card in another section names it, and nothing when it is back', () => {
    const document = empty()
    const card = { node: '/home/a/p', path: '/home/a/p.n', panel: {} }
    const rows = [{ key: '/home/a', cards: [card, { node: '/home/a/q', path: '/home/a/q.n', panel: { position: 2 } }] }, { key: '/home/b', cards: [] }]
    moveInto(document, '/home', rows, card, rows[0], rows[1], 0)
    const values = [{ 'panel.section': '/home/b', 'panel.position': 1 }, { 'panel.position': 1 }]
    assert.deepEqual(document.nodes, [{ id: 'a', children: [{ id: 'p', containerValues: values[0] }, { id: 'q', containerValues: values[1] }] }])
    moveInto(document, '/home', rows, card, { key: '/home/b', cards: [card] }, { key: '/home/a', cards: [rows[0].cards[1]] }, 1)
    assert.equal(said(document, '/home', card).section, undefined)
  })

  test('a card of its own goes with its node, another one is hidden and can be brought back', () => {
    const document = empty()
    const path = add(document, '/home', { section: '/home/a', attribute: { path: '/x.n', isWritable: true }, panel: { title: 'N' }, taken: ['x-n'] })
    assert.equal(path, '/home/a/x-n-2')
    assert.deepEqual(find(document, '/home', path), { id: 'x-n-2', binding: { n: '$/x.n' }, containerValues: { panel: { value: 'n', title: 'N' } } })
    say(document, '/home', { node: path, path: `${path}.n` }, 'unit', 'W')
    assert.equal(find(document, '/home', path).containerValues.panel.unit, 'W')
    hide(document, '/home', { node: path, path: `${path}.n` })
    hide(document, '/home', card)
    assert.deepEqual(hidden(document, '/home'), [{ node: card.node, path: card.node, isAutomatic: false, title: 'x y' }])
  })
})

const scene = `agd: 1
nodes:
  - id: home
    component: Cards
    children:
      - id: rooms
        component: Cards
        containerValues: { panel: { title: Rooms } }
        children:
          - { id: hall, state: { lux: 200 }, containerValues: { panel: { value: lux, title: Hall, unit: lx } } }
          - id: oven
            state: { isOn: true, heat: 180.0 }
            containerValues: { panel: '={"kind": "gauge", "value": "heat", "title": "Oven", "max": 250, "hidden": !isOn}' }
          - { id: attic, state: { lux: 90 }, containerValues: { panel: { value: lux, title: Attic, unit: lx } } }
      - { id: yard, component: Cards, children: [{ id: gate, state: { isOpen: false }, containerValues: { panel: { value: isOpen, title: Gate } } }] }
  - { id: meter, state: { power: 1200.0 } }
`

describe('editing', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  let site
  let browser
  const pages = []

  useBrowser([PANELS], { scene, access: ['define as:owner /**', 'write as:writer /**'], tokens: ['owner', 'writer'] }, (on) => ({ site, browser } = on))

  async function enter(name, options) {
    const page = await browser.open(`${site.url}?root=/home`, options)
    pages.push(page)
    await page.until(`document.querySelector('input[name=token]') || card('/home/rooms/hall.lux')`)
    await page.run(`document.querySelector('input[name=token]')?.focus()`)
    if (await page.run(`Boolean(document.querySelector('input[name=token]'))`)) {
      await page.send('Input.insertText', { text: site.tokens[name] })
      await page.press('Enter')
      await page.until(`location.search.includes('root') || location.pathname === '/'`)
      await page.until(`document.querySelector('agd-board')`)
      await page.send('Page.navigate', { url: `${site.url}?root=/home` })
    }
    await page.until(`card('/home/rooms/hall.lux')`)
    return page
  }

  const begin = async (page) => {
    await page.until(`!document.querySelector('#edit').hidden`)
    await page.click(`document.querySelector('#edit')`)
    await page.until(`card('/home/rooms/hall.lux').querySelector('.grip')`)
  }
  const tool = (text) => `[...board().querySelectorAll('.tools button')].find((each) => (each.ariaLabel ?? each.textContent) === '${text}')`
  const titles = `[...board().querySelectorAll('.cards > .card')].map((each) => each.querySelector('h3').innerText)`
  const shows = (page, ...expected) => page.until(`${titles}.join() === '${expected}'`)
  const layer = async () => {
    try {
      return (await site.client.call('dump', { path: '/home', format: 'scene', layer: 'page' })).document.nodes
    } catch (error) {
      return error.code
    }
  }
  const fill = async (page, member, value) => {
    await page.until(`board().querySelector('.settings [data-member="${member}"]')`)
    await page.run(`{
      const field = board().querySelector('.settings [data-member="${member}"]')
      field.value = '${value}'
      field.dispatchEvent(new Event('change'))
    }`)
  }
  const close = async (...some) => {
    for (const page of some) {
      assert.deepEqual(page.faults, [])
      await page.close()
    }
  }

  test('who may write, but not define, is offered nothing to edit', async () => {
    const page = await enter('writer')
    await page.until(`document.body.dataset.live === 'true'`)
    assert.equal(await page.run(`document.querySelector('#edit').hidden`), true)
    await page.send('Network.clearBrowserCookies')
    await close(page)
  })

  test('what one page moves and renames, another page shows, and the layer is what a person would write', async () => {
    const page = await enter('owner')
    const other = await enter('owner')
    await begin(page)
    await page.run(`card('/home/rooms/oven.heat').querySelector('.grip').focus()`)
    await page.press('ArrowLeft')
    await shows(page, 'Oven', 'Hall', 'Attic', 'Gate')
    await page.until(`board().activeElement?.ariaLabel === 'Edit Oven'`)
    await page.press('Enter')
    await fill(page, 'title', 'Stove')
    await shows(other, 'Stove', 'Hall', 'Attic', 'Gate')
    const values = { 'panel.position': 1, 'panel.title': 'Stove' }
    assert.deepEqual(await layer(), [{ id: 'rooms', children: [{ id: 'oven', containerValues: values }] }])
    // The rule of the panel is still there.
    await site.client.set('/home/rooms/oven.isOn', false)
    await shows(other, 'Hall', 'Attic', 'Gate')
    await site.client.set('/home/rooms/oven.isOn', true)
    await other.send('Page.reload')
    await shows(other, 'Stove', 'Hall', 'Attic', 'Gate')
    await page.press('Escape')
    await page.until(`board().activeElement?.ariaLabel === 'Edit Stove'`)
    await close(page, other)
  })

  test('changes are taken back one by one, and all at once; a layer that says nothing goes', async () => {
    const page = await enter('owner')
    await begin(page)
    await page.click(tool('Undo') + '.parentElement.querySelector(".main")')
    await begin(page)
    await page.run(`card('/home/rooms/attic.lux').querySelector('.grip').focus()`)
    await page.press('Delete')
    await shows(page, 'Stove', 'Hall', 'Gate')
    await page.until(`board().activeElement?.ariaLabel === 'Edit Hall'`)
    await page.press('ArrowLeft')
    await shows(page, 'Hall', 'Stove', 'Gate')
    await page.click(tool('Undo'))
    await shows(page, 'Stove', 'Hall', 'Gate')
    await page.click(tool('Redo'))
    await shows(page, 'Hall', 'Stove', 'Gate')
    await page.click(tool('Discard'))
    await shows(page, 'Stove', 'Hall', 'Attic', 'Gate')
    await page.until(`!board().querySelector('.grip, .tools') && !document.querySelector('#edit').hidden`)
    await begin(page)
    await page.click(`card('/home/rooms/oven.heat').querySelector('.grip')`)
    const reset = `[...board().querySelectorAll('.settings button')].find((each) => each.textContent === 'As before')`
    await page.until(reset)
    await page.run(`${reset}.click()`)
    await shows(page, 'Hall', 'Oven', 'Attic', 'Gate')
    await page.click(tool('Done'))
    await until('the layer is gone', async () => (await layer()) === 'notFound')
    await close(page)
  })

  test('of two pages, the second is told of the change of the first, and can make its own, too', async () => {
    const [page, other] = [await enter('owner'), await enter('owner')]
    await begin(page)
    await begin(other)
    await page.click(`card('/home/rooms/hall.lux').querySelector('.grip')`)
    await fill(page, 'title', 'Corridor')
    await shows(other, 'Corridor', 'Oven', 'Attic', 'Gate')
    await other.click(`card('/home/rooms/attic.lux').querySelector('.grip')`)
    await fill(other, 'title', 'Loft')
    await other.until(`board().querySelector('.clash')?.open`)
    assert.deepEqual(await other.run(titles), ['Corridor', 'Oven', 'Attic', 'Gate'])
    await other.click(`board().querySelector('.clash .mine')`)
    await shows(page, 'Corridor', 'Oven', 'Loft', 'Gate')
    await page.click(tool('Undo'))
    await page.until(`board().querySelector('.clash')?.open`)
    assert.deepEqual(await page.run(`[...board().querySelectorAll('.clash button')].map((each) => each.textContent)`), ['Take theirs'])
    await page.click(`board().querySelector('.clash .theirs')`)
    await site.client.remove('/home', { layer: 'page' })
    await shows(page, 'Hall', 'Oven', 'Attic', 'Gate')
    await close(page, other)
  })

  test('a card of any attribute is added, follows it, and goes again', async () => {
    const page = await enter('owner')
    await begin(page)
    await page.click(tool('Add a card'))
    await page.until(`board().querySelector('.settings li button')`)
    await page.run(`board().querySelector('.settings select').value = '/home/rooms'`)
    await page.send('Input.insertText', { text: 'meter power' })
    await page.until(`board().querySelectorAll('.settings li button').length === 1`)
    await page.click(`board().querySelector('.settings li button')`)
    await shows(page, 'Hall', 'Oven', 'Attic', 'Meter: power', 'Gate')
    await site.client.set('/meter.power', 800)
    await page.until(`textOf('/home/rooms/meter-power.power').startsWith('800')`)
    await page.click(`card('/home/rooms/meter-power.power').querySelector('.grip')`)
    await fill(page, 'kind', 'bar')
    await fill(page, 'max', '2000')
    await fill(page, 'critical', '700')
    await page.until(`card('/home/rooms/meter-power.power').matches('.kind-bar[data-status=critical]')`)
    const panel = { value: 'power', title: 'Meter: power', kind: 'bar', max: 2000, critical: 700 }
    assert.deepEqual(await layer(), [{ id: 'rooms', children: [{ id: 'meter-power', binding: { power: '$/meter.power' }, containerValues: { panel } }] }])
    await page.click(`board().querySelector('.settings .remove')`)
    await shows(page, 'Hall', 'Oven', 'Attic', 'Gate')
    await page.click(tool('Done'))
    await close(page)
  })

  test('a card that is dragged stands where it was dropped', async () => {
    const page = await enter('owner')
    await begin(page)
    const at = (path, part) => page.run(`(() => { const { x, y, width, height } = card('${path}').getBoundingClientRect(); return [x + width * ${part}, y + height / 2] })()`)
    const [from, to] = [await at('/home/rooms/hall.lux', 0.5), await at('/home/rooms/attic.lux', 0.9)]
    const mouse = (type, [x, y]) => page.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', buttons: 1, clickCount: 1 })
    await mouse('mousePressed', from)
    await mouse('mouseMoved', [from[0] + 20, from[1]])
    await mouse('mouseMoved', to)
    await shows(page, 'Oven', 'Attic', 'Hall', 'Gate')
    assert.equal(await layer(), 'notFound', 'nothing is written before it is dropped')
    // A change of the tree meanwhile shows the board as the daemon has it, until the mouse moves again or lets go.
    await site.client.call('apply', { document: { agd: 1, nodes: [{ id: 'lamp', containerValues: { panel: { hidden: true } } }] }, at: '/home/yard' })
    await page.until(`${titles}[0] === 'Hall'`)
    await mouse('mouseReleased', to)
    await until('the layer says it', async () => JSON.stringify(await layer()).includes('"panel.position":3'))
    await page.until(`!board().querySelector('.ghost, .is-lifted') && !board().querySelector('.settings').open`)
    await shows(page, 'Oven', 'Attic', 'Hall', 'Gate')
    // Over another section, it stands there.
    await page.until(`[...board().querySelectorAll('.card')].every((each) => each.getAnimations().length === 0)`)
    const [start, end] = [await at('/home/rooms/oven.heat', 0.5), await at('/home/yard/gate.isOpen', 0.2)]
    await mouse('mousePressed', start)
    await mouse('mouseMoved', [start[0] + 20, start[1]])
    await mouse('mouseMoved', end)
    await mouse('mouseReleased', end)
    await shows(page, 'Attic', 'Hall', 'Oven', 'Gate')
    await until('the layer says it', async () => JSON.stringify(await layer()).includes('"panel.section":"/home/yard"'))
    await page.until(`board().activeElement?.ariaLabel === 'Edit Oven'`)
    await page.press('ArrowUp')
    await until('the layer says nothing of it', async () => !JSON.stringify(await layer()).includes('section'))
    await shows(page, 'Attic', 'Hall', 'Oven', 'Gate')
    await close(page)
  })
})
