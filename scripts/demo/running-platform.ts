import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How long the start may take, in milliseconds. */
const PATIENCE_MS = 20_000

/** The built command's platform, with its gateway behind it and the sandbox for a model. */
export interface RunningPlatform {
  url: string
  /** An admin's key. */
  admin: string
}

/**
 * Starts the platform of the built command, does `work` with it, and ends it.
 *
 * @param options.command the built `cli.js`
 * @param options.env what the command finds in its environment beside this process's own, without its `GAZEWAY_…`
 * @throws Error when the start fails, and what `work` throws
 */
export async function withPlatform(
  { command, dataDir, env = {} }: { command: string; dataDir: string; env?: Record<string, string> },
  work: (platform: RunningPlatform) => Promise<void>,
): Promise<void> {
  const ports = ['--port', '0', '--platform-port', '0']
  const flags = ['--http', '--platform', ...ports, '--upstream', 'sandbox', '--data', dataDir, '--log-level', 'error']
  const server = spawn(process.execPath, [command, ...flags], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...withoutGazeway(process.env), ...env },
  })
  const ended = once(server, 'close')
  // Before the data folder is removed: at a stop, which the server would take its time for.
  process.prependOnceListener('exit', () => server.kill('SIGKILL'))
  try {
    const url = await platformUrl(server.stderr)
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

/** The address that the platform says it listens on. */
function platformUrl(stderr: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = () => {
      clearTimeout(timer)
      reject(new Error(`The platform did not start. It said: ${said}`))
    }
    const timer = setTimeout(fail, PATIENCE_MS)
    stderr.on('data', (chunk) => {
      said += chunk
      const url = /platform on (http:\S+) /.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    stderr.on('end', fail)
  })
}
