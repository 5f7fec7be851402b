import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe } from 'node:test'
import { likeSandbox } from '../doubles/sandbox.ts'
import { until } from '../doubles/until.ts'
import { startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { CLI, newPlace, PATIENCE_MS, type Place, putStore, type ServerOptions } from './server.ts'

/** The key that the gateways of these tests have for their upstream. */
export const UPSTREAM_KEY = 'upstream-secret-key'

/** `gazeway --http` as it is published, in a process of its own. */
export interface GatewayProcess {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** The admin key. */
  key: string
  pid: number
  /** Output on stderr so far. */
  stderr(): string
  /** Output on stdout so far, which must be empty. */
  stdout(): string
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  kill(signal: NodeJS.Signals): void
  /** Stops it as a service manager does. */
  stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const running = new Set<{ kill(signal: NodeJS.Signals): void }>()
after(() => {
  for (const gateway of running) gateway.kill('SIGKILL')
})

/**
 * Starts the gateway on a free port, and waits until it serves.
 *
 * @param options.openFiles how many files and connections it may have open
 */
export async function startGatewayProcess(
  place: Place,
  options: ServerOptions & { openFiles?: number } = {},
): Promise<GatewayProcess> {
  const { cli = CLI, args = [], env = {}, openFiles } = options
  const started: Record<string, string> = { GAZEWAY_UPSTREAM_API_KEY: UPSTREAM_KEY, ...place.env, ...env }
  const command = [process.execPath, cli, '--http', '--port', '0', ...args]
  const limited =
    openFiles === undefined ? command : ['sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', ...command]
  const [program = '', ...words] = limited
  putStore(place)
  const child = spawn(program, words, {
    cwd: place.project,
    env: started,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const output: string[] = []
  const errors: string[] = []
  child.stdout.on('data', (chunk) => output.push(String(chunk)))
  const exit = once(child, 'close').then(([code, signal]) => {
    running.delete(child)
    return { code: code as number | null, signal: signal as NodeJS.Signals | null }
  })
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`The gateway ${why}. It said: ${errors.join('')}`))
    const timer = setTimeout(() => fail('did not start'), PATIENCE_MS)
    child.stderr.on('data', (chunk) => {
      errors.push(String(chunk))
      const said = /gateway on (http:\S+)\/v1 /.exec(errors.join(''))?.[1]
      if (said === undefined) return
      clearTimeout(timer)
      resolve(said)
    })
    exit.then(({ code }) => {
      clearTimeout(timer)
      fail(`ended with ${code}`)
    })
  })
  return {
    url,
    key: started.GAZEWAY_API_KEY ?? readFileSync(join(place.data, 'admin.key'), 'utf8').trim(),
    pid: child.pid ?? 0,
    stderr: () => errors.join(''),
    stdout: () => output.join(''),
    exit,
    kill: (signal) => void child.kill(signal),
    stop() {
      child.kill('SIGTERM')
      return exit
    },
  }
}

/** The address of the platform that a process serves beside its gateway. */
export function platformOf({ stderr }: GatewayProcess): Promise<string> {
  return until(() => /platform on (http:\S+) /.exec(stderr())?.[1], { what: stderr, seconds: PATIENCE_MS / 1000 })
}

/**
 * Runs the same tests on both kinds of upstream: the sandbox in the gateway's process, and a provider over the network,
 * where requests take another way. Its key never shows.
 */
export function onEachUpstream(name: string, tests: (gateway: () => GatewayProcess) => void): void {
  for (const [kind, started] of [
    ['the sandbox', onSandbox],
    ['a provider over the network', onProvider],
  ] as const)
    describe(`${name} on ${kind}`, () => {
      let gateway: GatewayProcess
      before(async () => {
        gateway = await started()
      })
      tests(() => gateway)
    })
}

let sandbox: Promise<GatewayProcess> | undefined
let overNetwork: Promise<GatewayProcess> | undefined
let provider: UpstreamDouble | undefined
after(async () => {
  // A start that failed has failed its tests: what was started beside it ends all the same.
  await Promise.allSettled([sandbox, overNetwork].map(async (started) => (await started)?.stop()))
  await provider?.close()
})

/** The gateways on each kind of upstream, which all test files of a process share. */
function onSandbox(): Promise<GatewayProcess> {
  sandbox ??= startGatewayProcess(newPlace(), { args: ['--upstream', 'sandbox'] })
  return sandbox
}
function onProvider(): Promise<GatewayProcess> {
  overNetwork ??= startProvider().then((started) => {
    provider = started
    return startGatewayProcess(newPlace(), { args: ['--upstream', started.url] })
  })
  return overNetwork
}

/** Runs tests on an upstream that does what each test tells it to. */
export function onDouble(name: string, tests: (gateway: () => GatewayProcess, upstream: () => UpstreamDouble) => void) {
  describe(name, () => {
    let gateway: GatewayProcess
    let upstream: UpstreamDouble
    before(async () => {
      upstream = await startProvider()
      gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', upstream.url] })
    })
    beforeEach(() => {
      upstream.received.length = 0
    })
    after(async () => {
      await gateway.stop()
      await upstream.close()
    })
    tests(
      () => gateway,
      () => upstream,
    )
  })
}

/** A double that works on every endpoint, until it is told otherwise. */
export async function startProvider(): Promise<UpstreamDouble> {
  const upstream = await startUpstream()
  const works = likeSandbox()
  for (const path of ['/models', '/chat/completions', '/responses']) upstream.on(path, works)
  return upstream
}
