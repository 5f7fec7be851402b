import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Time limit for the start, in milliseconds. */
const PATIENCE_MS = 20_000

/** A service of the built command. */
export interface Running {
  url: string
  /** An admin's key. */
  admin: string
}

/** Paths of the built `cli.js` and of its data folder. */
interface Place {
  command: string
  dataDir: string
}

/**
 * Starts the gateway of the built command over HTTP, does `work` with it, and ends it.
 *
 * @param options.upstream as the flag `--upstream` names it
 * @throws Error when the start fails, and what `work` throws
 */
export function withGateway(
  { upstream, ...place }: Place & { upstream: string },
  work: (gateway: Running) => Promise<void>,
): Promise<void> {
  const flags = ['--http', '--port', '0', '--upstream', upstream]
  return withService({ ...place, flags, listening: /gateway on (http:\S+)\/v1 /, env: {} }, work)
}

/**
 * Starts the platform of the built command, with its gateway behind it and the sandbox for a model, does `work` with it,
 * and ends it.
 *
 * @param options.env what the command finds in its environment beside this process's own, without its `GAZEWAY_…`
 * @throws Error when the start fails, and what `work` throws
 */
export function withPlatform(
  { env = {}, ...place }: Place & { env?: Record<string, string> },
  work: (platform: Running) => Promise<void>,
): Promise<void> {
  const flags = ['--http', '--platform', '--port', '0', '--platform-port', '0', '--upstream', 'sandbox']
  return withService({ ...place, flags, listening: /platform on (http:\S+) /, env }, work)
}

/** @param service.listening what it says once it listens, and where */
async function withService(
  service: Place & { flags: string[]; listening: RegExp; env: Record<string, string> },
  work: (running: Running) => Promise<void>,
): Promise<void> {
  const { command, dataDir, flags, listening, env } = service
  const server = spawn(process.execPath, [command, ...flags, '--data', dataDir, '--log-level', 'error'], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...withoutGazeway(process.env), ...env },
  })
  const ended = once(server, 'close')
  // Before the data folder is removed: at a stop, which the server would take its time for.
  process.prependOnceListener('exit', () => server.kill('SIGKILL'))
  try {
    const url = await waitForLine(server.stderr, listening)
    await work({ url, admin: readFileSync(join(dataDir, 'admin.key'), 'utf8').trim() })
  } finally {
    server.kill('SIGTERM')
    await ended
  }
}

/**
 * Asks the platform.
 *
 * @param body sent with POST; GET without one
 * @throws Error with what it answered when that is a refusal
 */
export async function ask(url: string, key: string | null, body?: unknown): Promise<Record<string, unknown>> {
  const reply = await fetch(url, {
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as Record<string, unknown>
}

/** Prints a value below its title. */
export function show(title: string, value: unknown): void {
  console.log(`${title}\n\n${JSON.stringify(value, null, 2).replaceAll(/^/gm, '   ')}\n`)
}

/** A demonstration must not come to use the store or the wallet that its shell is set up for. */
function withoutGazeway(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('GAZEWAY_')))
}

/** The address that the service says it listens on. */
function waitForLine(stderr: NodeJS.ReadableStream, listening: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = () => {
      clearTimeout(timer)
      reject(new Error(`It did not start. It said: ${said}`))
    }
    const timer = setTimeout(fail, PATIENCE_MS)
    stderr.on('data', (chunk) => {
      said += chunk
      const url = listening.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    stderr.on('end', fail)
  })
}
