/** Chromium without a window, driven over its debugging pipe, and a daemon with a gateway. No packages are needed. */

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../clients/javascript/node.js'

export { sleep }
export const ROOT = resolve(new URL('.', import.meta.url).pathname, '../..')
export const PANELS = join(ROOT, 'dashboard/panels.yaml')
const PROGRAMS = process.env.AGD_PROGRAMS ?? join(ROOT, '.build/debug')
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** The browser's program, or null. */
export const CHROMIUM = NAMES.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0) ?? null

/** Calls until the result is true, and says after a while what was awaited. */
export async function until(what, act, seconds = 20) {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const found = await act()
    if (found) return found
    if (Date.now() > end) throw new Error(`did not happen within ${seconds} s: ${what}`)
    await sleep(30)
  }
}

async function stop(program, signal = 'SIGTERM') {
  if (program && program.exitCode === null && program.signalCode === null) {
    program.kill(signal)
    await once(program, 'exit')
  }
}

/** A daemon with scenes, and its gateway. */
export class Site {
  /** `scene` is the text of a further scene. `access` and `settings` have lines of agd.conf. With `tokens`, which are names of principals, each page needs one of `site.tokens`. `hasPast` starts agd-past. */
  static async start(scenes, { scene = null, isWritable = true, origins = [], access = [], settings = [], tokens = [], hasPast = false } = {}) {
    const site = new Site()
    site.folder = mkdtempSync(join(tmpdir(), 'agd-page-'))
    site.socket = join(site.folder, 'agd.sock')
    site.scenes = scene === null ? scenes : [...scenes, join(site.folder, 'scene.yaml')]
    if (scene !== null) writeFileSync(join(site.folder, 'scene.yaml'), scene)
    site.isWritable = isWritable
    site.origins = origins
    site.configuration = join(site.folder, 'agd.conf')
    writeFileSync(site.configuration, [...access.map((each) => `access = ${each}`), ...settings, ''].join('\n'))
    site.tokenFile = tokens.length > 0 ? join(site.folder, 'tokens') : null
    site.tokens = Object.fromEntries(tokens.map((name) => {
      const { stdout } = spawnSync(join(PROGRAMS, 'agd-gateway'), ['--tokens', site.tokenFile, '--add-token', name], { encoding: 'utf8' })
      return [name, stdout.trim()]
    }))
    await site.startDaemon()
    if (hasPast) await site.startPast()
    await site.startGateway()
    return site
  }

  async startDaemon() {
    const options = ['--socket', this.socket, '--config', this.configuration, '--state-directory', join(this.folder, 'state'), ...this.scenes.flatMap((each) => ['--scene', each])]
    const log = join(this.folder, 'agd.log')
    this.daemon = spawn(join(PROGRAMS, 'agd'), options, { stdio: ['ignore', 'ignore', openSync(log, 'a')] })
    await until('the daemon answers', async () => {
      if (this.daemon.exitCode !== null) throw new Error(readFileSync(log, 'utf8'))
      const client = connect({ path: this.socket })
      try {
        await client.ping()
        return true
      } catch {
        return false
      } finally {
        await client.close()
      }
    })
    this.client = connect({ path: this.socket, name: 'test' })
  }

  async startPast() {
    const path = join(this.folder, 'past.sock')
    const options = ['--config', this.configuration, '--state-directory', join(this.folder, 'state'), '--socket', path]
    this.past = spawn(join(PROGRAMS, 'agd-past'), options, { stdio: ['ignore', 'ignore', openSync(join(this.folder, 'past.log'), 'a')] })
    await until('agd-past listens', () => existsSync(path))
    this.pastClient = connect({ path })
  }

  async stopPast() {
    await this.pastClient?.close()
    await stop(this.past)
  }

  async startGateway() {
    const options = ['--socket', this.socket, '--port', String(this.port ?? 0), ...(this.isWritable ? ['--writable'] : []), ...(this.tokenFile ? ['--tokens', this.tokenFile] : []),
      ...this.origins.flatMap((each) => ['--allow-origin', each]),
      '--pages', join(ROOT, 'dashboard')]
    const output = join(this.folder, 'gateway.out')
    this.gateway = spawn(join(PROGRAMS, 'agd-gateway'), options, { stdio: ['ignore', openSync(output, 'w'), openSync(`${output}.log`, 'a')] })
    this.url = await until('the gateway listens', () => {
      if (this.gateway.exitCode !== null) throw new Error(readFileSync(`${output}.log`, 'utf8'))
      return readFileSync(output, 'utf8').match(/http:\S+/)?.[0]
    })
    if (!this.url.endsWith('/')) this.url += '/'
    this.port = new URL(this.url).port
  }

  async killDaemon() {
    await this.client.close()
    await stop(this.daemon, 'SIGKILL')
  }

  async stopGateway() {
    await stop(this.gateway)
  }

  async stop() {
    await this.client.close()
    await this.stopPast()
    await stop(this.gateway)
    await stop(this.daemon)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export class Browser {
  #id = 0
  #waiting = new Map()
  #listeners = []
  #rest = ''

  static async start(options = []) {
    const browser = new Browser()
    browser.folder = mkdtempSync(join(tmpdir(), 'agd-chromium-'))
    browser.program = spawn(CHROMIUM, [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--mute-audio',
      '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions', '--hide-scrollbars',
      '--remote-debugging-pipe', `--user-data-dir=${browser.folder}`, ...options, 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
    browser.program.stdio[4].setEncoding('utf8').on('data', (text) => browser.#take(text))
    return browser
  }

  #take(text) {
    const parts = (this.#rest + text).split('\0')
    this.#rest = parts.pop()
    for (const part of parts) {
      const message = JSON.parse(part)
      if (message.id === undefined) {
        for (const listener of this.#listeners) listener(message)
        continue
      }
      const { resolve, reject } = this.#waiting.get(message.id)
      this.#waiting.delete(message.id)
      if (message.error) reject(new Error(message.error.message))
      else resolve(message.result)
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#id
    this.program.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  listen(listener) {
    this.#listeners.push(listener)
  }

  /** Opens a page. `width`, `height`, `scheme`, `isMotionReduced`, `isTouch`. */
  async open(url, options = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
    const page = new Page(this, targetId, sessionId)
    await page.begin(options)
    await page.send('Page.navigate', { url })
    return page
  }

  /**
   * Milliseconds of processor time that the main thread of each page takes in each frame of 1/60 s, while `act` runs.
   * The result is the busiest page's. Processor time does not depend on what else the machine does.
   */
  async frames(act) {
    const events = []
    const ended = new Promise((resolve) => this.listen(({ method, params }) => {
      if (method === 'Tracing.dataCollected') events.push(...params.value)
      if (method === 'Tracing.tracingComplete') resolve()
    }))
    await this.send('Tracing.start', { traceConfig: { includedCategories: ['toplevel'] }, transferMode: 'ReportEvents' })
    const begin = Date.now()
    await act()
    const count = Math.ceil(((Date.now() - begin) / 1000) * 60)
    await this.send('Tracing.end')
    await ended
    const threads = new Map()
    for (const { ph, name, args, pid, tid } of events) {
      if (ph === 'M' && name === 'thread_name' && args.name === 'CrRendererMain') threads.set(`${pid} ${tid}`, new Map())
    }
    const first = events.reduce((least, { ts }) => (ts ? Math.min(least, ts) : least), Infinity)
    for (const { ph, name, pid, tid, ts, tdur } of events) {
      const frames = threads.get(`${pid} ${tid}`)
      if (!frames || ph !== 'X' || name !== 'ThreadControllerImpl::RunTask' || !tdur) continue
      const frame = Math.floor((ts - first) / (1e6 / 60))
      frames.set(frame, (frames.get(frame) ?? 0) + tdur / 1000)
    }
    const sum = (frames) => [...frames.values()].reduce((a, b) => a + b, 0)
    const [busiest = new Map()] = [...threads.values()].sort((a, b) => sum(b) - sum(a))
    return Array.from({ length: Math.max(count, busiest.size) }, (_, i) => [...busiest.values()][i] ?? 0).sort((a, b) => a - b)
  }

  async stop() {
    const ended = once(this.program, 'exit')
    if (this.program.exitCode === null) {
      this.send('Browser.close').catch(() => {})
      await ended
    }
    // Its other processes may still write for a moment.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
  }
}

/** Functions for the expressions of tests. */
const HELPERS = `
window.board = () => document.querySelector('agd-board')?.shadowRoot
window.card = (path) => board()?.querySelector('.cards > .card[data-path="' + CSS.escape(path) + '"]') ?? null
window.textOf = (path, part = '.value') => card(path)?.querySelector(part)?.innerText.trim() ?? null`

export class Page {
  /** What went wrong in the page. */
  faults = []

  constructor(browser, target, session) {
    Object.assign(this, { browser, target, session })
  }

  send(method, params) {
    return this.browser.send(method, params, this.session)
  }

  async begin(options) {
    this.browser.listen(({ method, params, sessionId }) => {
      if (sessionId !== this.session) return
      if (method === 'Runtime.exceptionThrown') {
        const { exception, text } = params.exceptionDetails
        this.faults.push(exception?.description ?? text)
      } else if (method === 'Log.entryAdded' && params.entry.level === 'error' && params.entry.source !== 'network') {
        this.faults.push(params.entry.text)
      }
    })
    await Promise.all(['Page', 'Runtime', 'Log', 'Network', 'DOM', 'Accessibility'].map((each) => this.send(`${each}.enable`)))
    await this.send('Page.addScriptToEvaluateOnNewDocument', { source: HELPERS })
    await this.emulate(options)
  }

  /** Returns when the page has drawn with it: what observes its size has run. */
  async emulate({ width = 1440, height = 900, scale = 1, scheme = 'light', isMotionReduced = false } = {}) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: false })
    await this.send('Emulation.setEmulatedMedia', {
      features: [
        { name: 'prefers-color-scheme', value: scheme },
        { name: 'prefers-reduced-motion', value: isMotionReduced ? 'reduce' : 'no-preference' },
      ],
    })
    await this.drawn()
  }

  /** Waits until the page has drawn what it is now. */
  drawn() {
    return this.run('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  }

  /** The value of an expression in the page; promises are awaited. */
  async run(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression, awaitPromise: true, returnByValue: true, userGesture: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }

  until(expression, seconds) {
    const attempt = `(() => { try { return ${expression} } catch { return false } })()`
    return until(expression, async () => {
      try {
        return await this.run(attempt)
      } catch (error) {
        // The page is on its way to another one.
        if (!/navigated or closed|context was destroyed/.test(error.message)) throw error
        return false
      }
    }, seconds)
  }

  async press(key, { code = key, text } = {}) {
    const codes = { Tab: 9, Enter: 13, Escape: 27, ArrowRight: 39, ArrowLeft: 37, ArrowUp: 38, ArrowDown: 40, Home: 36, End: 35, ' ': 32, '/': 191, '?': 191 }
    const given = { key, code, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0) }
    const written = text ?? (key === 'Enter' ? '\r' : key.length === 1 ? key : undefined)
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...given, ...(written ? { text: written } : {}) })
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...given })
  }

  /** Answers each `set` of the page with a refusal, "not now". */
  async refuseWrites() {
    await this.run(`(() => {
      window.fetchBefore = window.fetch
      window.fetch = (url, options) => options?.body?.includes('"set"')
        ? Promise.resolve(new Response('{"error":{"code":-32000,"message":"not now","data":{"code":"denied"}}}'))
        : fetchBefore(url, options)
    })()`)
  }

  /** Ends `refuseWrites`. */
  async allowWrites() {
    await this.run('window.fetch = window.fetchBefore')
  }

  /** Clicks in the middle of what the expression finds. */
  async click(expression) {
    // Cards that come into sight may get another height. A page in the background draws nothing.
    await this.run(`(() => {
      ${expression}.scrollIntoView({ block: 'center' })
      return new Promise((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(resolve))
        setTimeout(resolve, 100)
      })
    })()`)
    const [x, y] = await this.run(`(() => {
      const element = ${expression}
      element.scrollIntoView({ block: 'center' })
      const box = element.getBoundingClientRect()
      return [box.x + box.width / 2, box.y + box.height / 2]
    })()`)
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 })
    }
  }

  /** Roles, names and values of the accessibility tree. */
  async accessibility() {
    const { nodes } = await this.send('Accessibility.getFullAXTree')
    return nodes.filter((each) => !each.ignored).map(({ role, name, value, properties = [] }) => ({
      role: role?.value, name: name?.value, value: value?.value,
      ...Object.fromEntries(properties.map((each) => [each.name, each.value?.value])),
    }))
  }

  async screenshot(isWhole = false) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: isWhole })
    return Buffer.from(data, 'base64')
  }

  async close() {
    await this.browser.send('Target.closeTarget', { targetId: this.target })
  }
}

/** Starts a site and a browser before the first test of a suite, gives them to `take`, and stops both after the last test. */
export function useBrowser(scenes, options, take) {
  let site
  let browser

  before(async () => {
    site = await Site.start(scenes, options)
    browser = await Browser.start()
    take({ site, browser })
  })

  after(async () => {
    await browser?.stop()
    await site?.stop()
  })
}
