/**
 * Pictures of boards, compared with `looks.json`: the most frequent colour in each cell of a grid. So letters do not count,
 * but cards, controls, headings and their places do. With a system font of another width the tests are skipped. After a change that is meant, look at the pictures and write them anew: `LOOKS=write node --test look.test.js`.
 * They are in the folder that LOOKS_FOLDER names, if it does.
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Browser, CHROMIUM, PANELS, ROOT, Site, sleep } from './browser.js'

const FILE = join(ROOT, 'dashboard/test/looks.json')
/** Pixels of a cell. */
const CELL = 20
/** A cell differs if a colour of it is this far off, of 255. Cards and the page differ by 11 in the light scheme. */
const FAR = 6
/** Part of the cells that may differ: half filled ones. */
const MOST = 0.02

/** Colours of the cells, row by row: six hexadecimal digits each. */
const REDUCE = `window.reduce = async (data, cell) => {
  const image = new Image()
  image.src = 'data:image/png;base64,' + data
  await image.decode()
  const [width, height] = [Math.floor(image.width / cell), Math.floor(image.height / cell)]
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width: image.width, height: image.height })
  const context = canvas.getContext('2d', { willReadFrequently: true })
  context.drawImage(image, 0, 0)
  const rows = []
  for (let y = 0; y < height; y++) {
    let row = ''
    for (let x = 0; x < width; x++) {
      const { data } = context.getImageData(x * cell, y * cell, cell, cell)
      const counts = new Map()
      for (let i = 0; i < data.length; i += 4) {
        const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2]
        counts.set(colour, (counts.get(colour) ?? 0) + 1)
      }
      const [colour] = [...counts].reduce((most, each) => (each[1] > most[1] ? each : most))
      row += colour.toString(16).padStart(6, '0')
    }
    rows.push(row)
  }
  return rows
}`

const colours = (row) => row.match(/../g).map((each) => parseInt(each, 16))

/** A sign for each cell, and the colours by sign. */
function packed(rows) {
  const palette = [...new Set(rows.flatMap((row) => row.match(/.{6}/g)))]
  return { palette, rows: rows.map((row) => row.match(/.{6}/g).map((each) => String.fromCharCode(97 + palette.indexOf(each))).join('')) }
}

function unpacked({ palette, rows }) {
  return rows.map((row) => [...row].map((each) => palette[each.charCodeAt(0) - 97]).join(''))
}

/** The part of the cells that differ; 1 if the sizes differ. */
function difference(rows, known) {
  if (rows.length !== known.length || rows[0].length !== known[0].length) return 1
  let [far, count] = [0, 0]
  rows.forEach((row, y) => {
    const [now, old] = [colours(row), colours(known[y])]
    for (let i = 0; i < now.length; i += 3) {
      count += 1
      if ([0, 1, 2].some((part) => Math.abs(now[i + part] - old[i + part]) > FAR)) far += 1
    }
  })
  return far / count
}

describe('the look', { skip: CHROMIUM ? false : 'there is no Chromium', concurrency: 1 }, () => {
  const known = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {}
  const isWriting = process.env.LOOKS === 'write'
  let browser
  let reducer

  before(async () => {
    browser = await Browser.start()
    reducer = await browser.open('about:blank')
    await reducer.run(REDUCE)
  })

  after(async () => {
    await browser?.stop()
    if (isWriting) writeFileSync(FILE, `${JSON.stringify(known, null, 1)}\n`)
  })

  async function picture(page, name) {
    await page.send('Page.bringToFront')
    await page.run(`document.getElementById('clock').style.visibility = 'hidden'`)
    await page.until(`board().getAnimations({ subtree: true }).length === 0`)
    await page.drawn()
    const bytes = await page.screenshot()
    if (process.env.LOOKS_FOLDER) writeFileSync(join(process.env.LOOKS_FOLDER, `${name}.png`), bytes)
    await reducer.send('Page.bringToFront')
    return reducer.run(`reduce(${JSON.stringify(bytes.toString('base64'))}, ${CELL})`)
  }

  const boards = {
    cards: { scenes: [join(ROOT, 'dashboard/test/every-card.yaml')], ready: `card('/all/plain.name')` },
    home: { scenes: [join(ROOT, 'Examples/dashboards/home.yaml')], ready: `card('/home/doors/front/lock.isLocked')` },
    ci: { scenes: [join(ROOT, 'Examples/dashboards/ci.yaml')], ready: `card('/ci/details/table.rows')` },
  }
  const views = {
    desk: { width: 1200, height: 900, scheme: 'light' },
    dark: { width: 1200, height: 900, scheme: 'dark' },
    phone: { width: 360, height: 1200, scheme: 'light' },
    rtl: { width: 768, height: 900, scheme: 'dark', address: '?dir=rtl' },
  }

  for (const [board, { scenes, ready }] of Object.entries(boards)) {
    test(`${board} looks as it did`, async (context) => {
      const site = await Site.start([PANELS, ...scenes])
      try {
        for (const [view, { address = '', ...options }] of Object.entries(views)) {
          const page = await browser.open(site.url + address, options)
          await page.until(ready)
          await sleep(300)
          const name = `${board}-${view}`
          const font = await page.run(`(() => {
            const context = document.createElement('canvas').getContext('2d')
            context.font = '100px ' + getComputedStyle(document.body).fontFamily
            return Math.round(context.measureText('Most frequent 0123456789').width)
          })()`)
          if (isWriting) known.font = font
          if (font !== known.font) return context.skip(`the system font is ${font} wide, and that of looks.json ${known.font}`)
          const rows = await picture(page, name)
          if (isWriting) known[name] = packed(rows)
          assert.ok(known[name], `looks.json has no ${name}: look at the picture, then LOOKS=write`)
          const part = difference(rows, unpacked(known[name]))
          context.diagnostic(`${name}: ${(100 * part).toFixed(2)} % of the cells differ`)
          assert.ok(part <= MOST, `${name}: ${(100 * part).toFixed(1)} % of the cells differ`)
          if (view === 'desk') {
            // The comparison sees a row that is missing, and a colour that is wrong.
            await page.run(`board().querySelector('section').remove()`)
            assert.ok(difference(await picture(page, 'broken'), unpacked(known[name])) > MOST, 'a missing row is seen')
          } else if (view === 'dark') {
            await page.emulate({ ...options, scheme: 'light' })
            await page.until(`matchMedia('(prefers-color-scheme: light)').matches`)
            assert.ok(difference(await picture(page, 'broken'), unpacked(known[name])) > MOST, 'a wrong scheme is seen')
          }
          assert.deepEqual(page.faults, [])
          await page.close()
        }
      } finally {
        await site.stop()
      }
    })
  }
})
