/**
 * Takes the pictures of Documentation/Dashboard.md and Documentation/Tutorial.md: `node dashboard/test/screenshots.js [seconds] [name …]`. The charts
 * show the seconds for which it waits (150). With names (`host`, `home`, …), it takes only those pictures. `past` is a moving one.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Browser, PANELS, ROOT, Site, sleep } from './browser.js'

const FOLDER = join(ROOT, 'Documentation/images')
const seconds = Number(process.argv[2] ?? 150)
const wanted = process.argv.slice(3)

/** Figures of a calm machine. */
async function feed(site) {
  const noise = (i, size) => size * (Math.sin(i / 7) + Math.sin(i / 3.1) / 2 + Math.sin(i * 12.9) / 4)
  const counters = { received: 0, sent: 0, read: 0, written: 0, reads: 0, writes: 0, busy: 0 }
  const busy = { cpu: 0, cpu0: 0, cpu1: 0, cpu2: 0, cpu3: 0 }
  const core = (id, share, i) => ({ id, busy: (busy[id] += Math.round(1000 * share)), total: 1000 * (i + 1) })
  const mount = (id, type, size, share, inodes) => (
    { id, type, source: type, size, used: Math.round(size * share), free: Math.round(size * (1 - share)), inodes, usedInodes: Math.round(inodes * share / 8) })
  for (let i = 0; i < seconds; i++) {
    const share = Math.max(0.03, 0.22 + noise(i, 0.08))
    const add = (name, least, value) => (counters[name] += Math.round(Math.max(least, value)))
    add('received', 2000, 240_000 + noise(i * 1.7, 150_000))
    add('sent', 1000, 60_000 + noise(i * 2.3, 40_000))
    add('read', 0, noise(i * 0.6, 900_000))
    add('written', 0, 300_000 + noise(i * 1.1, 400_000))
    add('reads', 0, noise(i * 0.6, 40))
    add('writes', 0, 20 + noise(i * 1.1, 20))
    add('busy', 0, 40 + noise(i * 0.6, 60))
    const { received, sent, read, written, reads, writes } = counters
    await site.client.transact(Object.entries({
      '/host.feed': { isLive: true, time: new Date().toISOString(), uptime: 432_000 + i, silent: [] },
      '/host/machine.identity': { name: 'web-01', kernel: '6.1.0-28-amd64' },
      '/host/machine.clock': { isSynchronized: true, offset: 0.0004, error: 0.02 },
      '/host/cpu.all': core('cpu', share, i),
      '/host/cpu.cores': [core('cpu0', share * 1.2, i), core('cpu1', share * 0.8, i), core('cpu2', share * 1.1, i), core('cpu3', share * 0.6, i)],
      '/host/memory.bytes': { total: 16e9, available: Math.round(9.4e9 + noise(i / 5, 2e8)), cached: 4e9, swapTotal: 4e9, swapFree: 3.8e9 },
      '/host/load.average': { one: 0.8 + noise(i / 4, 0.2), five: 0.72 + noise(i / 9, 0.1), fifteen: 0.6 + noise(i / 15, 0.05) },
      '/host/load.tasks': { running: 2, total: 412 + Math.round(noise(i, 4)) },
      '/host/pressure.resources': [{ id: 'cpu', some: 1.2, full: 0 }, { id: 'memory', some: 0, full: 0 }, { id: 'io', some: 0.3, full: 0 }],
      '/host/network.interfaces': [{ id: 'eth0', received, sent, errors: 0, isVirtual: false }, { id: 'wg0', received: received / 2, sent: sent / 2, errors: 0, isVirtual: true }],
      '/host/disks.devices': [{ id: 'nvme0n1', read, written, reads, writes, busy: counters.busy, isVirtual: false }],
      '/host/filesystems.mounts': [mount('/', 'ext4', 480e9, 0.41, 30e6), mount('/home', 'btrfs', 2e12, 0.72, 0), mount('/run', 'tmpfs', 3.3e9, 0.01, 4e6), mount('/srv/backup disk', 'nfs4', 8e12, 0.914, 5e8)],
      '/host/temperatures.sensors': [{ id: 'coretemp Package id 0', celsius: 47, high: 80, critical: 100 }, { id: 'nvme Composite', celsius: 38.9, high: null, critical: 84.9 }],
      '/host/fans.sensors': [{ id: 'nct6798 CPU fan', speed: 1130 }],
      '/host/units.failed': [{ id: 'backup.service', description: 'Nightly backup', since: '2026-01-05T03:12:00Z' }],
      '/host/groups.top': ['docker 4f1c2a9b77e0', 'postgresql', 'nginx', 'agd'].map((name, k) => ({ name, path: name, percent: 11 - 2.5 * k, memory: 310_000_000 - 90_000_000 * k })),
      '/host/containers.all': [{ id: 'docker 4f1c2a9b77e0', path: 'docker', usage: 110_000 * i, memory: 310_000_000, limit: 512_000_000, tasks: 12 }],
      '/host/processes.count': 208,
      '/host/processes.top': ['postgres', 'agd', 'nginx', 'sshd'].map((name, k) => (
        { id: 100 + k, name, percent: 9 - 2 * k, resident: 90_000_000 - 20_000_000 * k })),
    }).map(([path, value]) => ({ op: 'set', path, value })), { label: 'feed' })
    await sleep(1000)
  }
}

/** The greenhouse of the tutorial: the files that its page shows, and a temperature for each second. */
async function buildGreenhouse(site) {
  const page = readFileSync(join(ROOT, 'Documentation/Tutorial.md'), 'utf8')
  for (const [, text] of page.matchAll(/^```yaml title="[a-z]+\.yaml"\n([^]*?)^```$/gm)) await site.client.apply(text, { mode: 'merge' })
  await site.client.transact([
    { op: 'set', path: '/greenhouse.plants', value: ['tomatoes', 'basil', 'peppers'] },
    { op: 'set', path: '/greenhouse.limit', value: 26.0 },
  ])
  await site.client.do('/greenhouse/watering.start')
  await site.client.set('/greenhouse/beds/basil.moisture', 33.0)
}

async function feedGreenhouse(site) {
  for (let i = 0; i < seconds; i++) {
    await site.client.set('/greenhouse.temperature', Math.round(10 * (23.2 + 1.6 * Math.sin(i / 11) + 0.4 * Math.sin(i / 3.1))) / 10)
    await sleep(1000)
  }
}

mkdirSync(FOLDER, { recursive: true })
const browser = await Browser.start()
const sites = []

/** Opens a board, lets it live for a while and takes its picture. `act` is done in the page before. */
async function picture(name, scenes, { address = '', scheme = 'light', width = 1200, height = 760, prepare = () => {}, act = () => {} }) {
  if (wanted.length > 0 && !wanted.includes(name)) return
  const site = await Site.start(scenes)
  sites.push(site)
  await prepare(site)
  const page = await browser.open(site.url + address, { width, height, scheme })
  // A page in the background does not draw.
  await page.send('Emulation.setFocusEmulationEnabled', { enabled: true })
  const feeding = { host: feed, tutorial: feedGreenhouse }[name]?.(site)
  await (feeding ?? sleep(['sensors', 'inspector', 'sheet'].includes(name) ? seconds * 1000 : 3000))
  await page.send('Page.bringToFront')
  await act(page)
  await sleep(1200)
  writeFileSync(join(FOLDER, `dashboard-${name}.png`), await page.screenshot())
  if (page.faults.length > 0) throw new Error(page.faults.join('\n'))
}

// MARK: A moving picture

/** An evening in a home, in half a minute. */
async function liveThroughEvening(site) {
  const events = {
    4: ['Ada comes home', { '/home/doors/front.isLocked': false, '/home/lights/hall.isOn': true }], 7: ['dusk', { '/home/lights/kitchen.isOn': true }],
    10: ['Ada', { '/home/doors/front.isLocked': true }], 14: ['cooking', { '/home/lights/kitchen.level': 90 }],
    19: ['comfort', { '/home/climate/indoors.target': 22.5 }], 24: ['film night', { '/home/lights/kitchen.isOn': false, '/home/lights/strip.color': '#6457b8' }],
    27: ['film night', { '/home/lights/hall.isOn': false }],
  }
  for (let i = 0; i < 30; i++) {
    const [label = 'sensors', more = {}] = events[i] ?? []
    const values = { '/home/climate/indoors.temperature': 18 + 4.5 * (1 - Math.exp(-i / 12)) + 0.3 * Math.sin(i), '/home/climate/indoors.humidity': 44 + Math.round(26 * Math.exp(-(((i - 16) / 5) ** 2))), ...more }
    await site.client.transact(Object.entries(values).map(([path, value]) => ({ op: 'set', path, value: typeof value === 'number' && value % 1 ? Math.round(10 * value) / 10 : value })), { label })
    await sleep(1000)
  }
}

/** Pictures in WebP as one that moves: `frames` are `[bytes, milliseconds]`. */
function animate(frames, width, height) {
  const number = (value, size) => Buffer.from(Array.from({ length: size }, (_, i) => (value >> (8 * i)) & 255))
  const chunk = (name, ...parts) => {
    const body = Buffer.concat(parts)
    return Buffer.concat([Buffer.from(name), number(body.length, 4), body, Buffer.alloc(body.length % 2)])
  }
  const size = [number(width - 1, 3), number(height - 1, 3)]
  /** The chunk of a picture that has its pixels, without its colour space. */
  const pixels = (bytes) => {
    let at = 12
    while (bytes.toString('latin1', at, at + 4) !== 'VP8 ') at += 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2)
    return bytes.subarray(at, at + 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2))
  }
  const body = [
    chunk('VP8X', number(2, 4), ...size), chunk('ANIM', number(0, 6)),
    ...frames.map(([bytes, time]) => chunk('ANMF', number(0, 6), ...size, number(time, 3), number(2, 1), pixels(bytes))),
  ]
  return chunk('RIFF', Buffer.from('WEBP'), ...body)
}

/** A drag on the axis takes a board through the evening, and back to now. */
async function film() {
  if (wanted.length > 0 && !wanted.includes('past')) return
  const [width, height] = [1100, 700]
  const site = await Site.start(example('home'), { hasPast: true })
  sites.push(site)
  const page = await browser.open(site.url, { width, height })
  await page.send('Emulation.setFocusEmulationEnabled', { enabled: true })
  await page.until(`card('/home/lights/hall/switch.isOn')`)
  await liveThroughEvening(site)
  await page.press('[')
  await page.until(`document.querySelector('.axis .deeds')?.getAttribute('d')`)
  for (let i = 0; i < 3; i++) await page.press('+')
  await page.run('document.activeElement.blur()')
  await sleep(2500)
  const frames = []
  const take = async (time) => {
    const { data } = await page.send('Page.captureScreenshot', { format: 'webp', quality: 50 })
    const bytes = Buffer.from(data, 'base64')
    if (frames.length > 0 && frames.at(-1)[0].equals(bytes)) frames.at(-1)[1] += time
    else frames.push([bytes, time])
  }
  const { left, top, width: length } = await page.run(`(({ left, top, width }) => ({ left, top, width }))(document.querySelector('.axis .track').getBoundingClientRect())`)
  const mouse = (type, part) => page.send('Input.dispatchMouseEvent', { type, x: left + part * length, y: top + 20, button: 'left', buttons: 1, clickCount: 1 })
  await take(1200)
  await mouse('mousePressed', 0.99)
  for (let i = 1; i <= 30; i++) {
    await mouse('mouseMoved', 0.99 - 0.8 * (0.5 - 0.5 * Math.cos((Math.PI * i) / 30)))
    await sleep(250)
    await take(i === 30 ? 1200 : 110)
  }
  await mouse('mouseReleased', 0.19)
  await page.run(`document.querySelector('.axis > button').click()`)
  for (let i = 0; i < 5; i++) await take(80)
  await sleep(800)
  await take(1500)
  writeFileSync(join(FOLDER, 'dashboard-past.webp'), animate(frames, width, height))
  if (page.faults.length > 0) throw new Error(page.faults.join('\n'))
}

const example = (name) => [PANELS, join(ROOT, `Examples/dashboards/${name}.yaml`)]
await picture('home', example('home'), { scheme: 'dark', height: 700, prepare: (site) => site.client.set('/home/lights/kitchen.isOn', true) })
await picture('edit', example('home'), {
  act: async (page) => {
    await page.click(`document.querySelector('#edit')`)
    await page.until(`board().querySelector('.grip')`)
    await page.run(`card('/home/climate/indoors/temperature.value').querySelector('.grip').click()`)
  },
})
await picture('ci', example('ci'), { height: 640 })
await picture('phone', example('home'), { width: 360, height: 720 })
await Promise.all([
  picture('sensors', example('sensors'), { scheme: 'dark', height: 480 }),
  picture('sheet', example('sensors'), {
    height: 800,
    act: async (page) => {
      await page.click(`card('/greenhouse/air/temperature.value').querySelector('h3 a')`)
      await page.until(`board().querySelector('dialog[open] .walk') && board().querySelector('dialog').getAnimations().length === 0`)
      const [x, y] = await page.run(`(() => {
        const { left, top, width, height } = board().querySelector('dialog .chart').getBoundingClientRect()
        return [left + 0.6 * width, top + height / 2]
      })()`)
      for (const shift of [0, 1]) await page.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: x + shift, y })
      await page.until(`board().querySelector('dialog .tag')`)
    },
  }),
  picture('inspector', example('sensors'), { address: 'inspect.html?path=/greenhouse/air/temperature.value', height: 860 }),
  picture('tutorial', [PANELS], { address: '?root=/greenhouse', width: 840, height: 480, prepare: buildGreenhouse }),
  picture('host', [join(ROOT, 'Examples/host-monitor.yaml')], {
    height: 900,
    prepare: async (site) => {
      await site.client.apply(readFileSync(join(ROOT, 'Examples/dashboards/host.yaml'), 'utf8'), { mode: 'merge' })
    },
  }),
])
await film()
await browser.stop()
for (const site of sites) await site.stop()
