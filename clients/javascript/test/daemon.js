/** A real daemon in a temporary folder. */

import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, Unreachable } from '../node.js'

export const ROOT = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../..')
export const SCENARIO = join(ROOT, 'clients/scenario')
export const PROGRAMS = process.env.AGD_PROGRAMS ?? join(ROOT, '.build/debug')

export class Daemon {
  static async start() {
    const daemon = new Daemon()
    await daemon.start()
    return daemon
  }

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'agd-javascript-'))
    this.socket = join(this.folder, 'agd.sock')
    copyFileSync(join(SCENARIO, 'scene.yaml'), join(this.folder, 'scene.yaml'))
  }

  async start() {
    const log = join(this.folder, 'log')
    const state = join(this.folder, 'state')
    const scene = join(this.folder, 'scene.yaml')
    const options = ['--socket', this.socket, '--scene', scene, '--state-directory', state]
    this.process = spawn(join(PROGRAMS, 'agd'), options, { stdio: ['ignore', 'ignore', openSync(log, 'a')] })
    for (let tries = 0; tries < 1000; tries++) {
      const client = connect({ path: this.socket })
      try {
        await client.ping()
        return
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error
        if (this.process.exitCode !== null) throw new Error(readFileSync(log, 'utf8'))
        await sleep(10)
      } finally {
        await client.close()
      }
    }
    throw new Error('the daemon does not answer')
  }

  /** Starts a gateway, and returns its address. It ends with the daemon. */
  async startGateway() {
    const options = ['--socket', this.socket, '--port', '0', '--writable']
    this.gateway = spawn(join(PROGRAMS, 'agd-gateway'), options, { stdio: ['ignore', 'pipe', 'inherit'] })
    for await (const line of createInterface(this.gateway.stdout)) return line
    throw new Error('the gateway ended')
  }

  async kill() {
    this.process.kill('SIGKILL')
    await once(this.process, 'exit')
  }

  async stop() {
    if (this.gateway) {
      this.gateway.kill('SIGTERM')
      await once(this.gateway, 'exit')
    }
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGTERM')
      await once(this.process, 'exit')
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}
