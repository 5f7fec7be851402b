import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { runCommandLine } from '../../adapters/command/program.ts'
import { CLI, type Place } from './server.ts'

/** Runs commands in the process of the test: a process of its own costs a quarter of a second of CPU each time. */

/** Output of the command that runs; the reports of the test runner have none. */
const output = new AsyncLocalStorage<{ stdout: string; stderr: string }>()

for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name]
  const write = stream.write
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    const taken = output.getStore()
    if (taken === undefined) return Reflect.apply(write, stream, [chunk, ...rest])
    taken[name] += chunk
    const done = rest.at(-1)
    if (typeof done === 'function') process.nextTick(done as () => void)
    return true
  }
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command that ends by itself, as `run` does in a process of its own. Commands run one after another: folder,
 * environment, standard input and exit code belong to the process.
 */
export function runHere(place: Place, args: readonly string[], env: Record<string, string> = {}, input = '') {
  const running = last.then(() => runNow(place, args, env, input))
  last = running.catch(() => {})
  return running
}

async function runNow(place: Place, args: readonly string[], env: Record<string, string>, input: string) {
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {}
  const before = { env: { ...process.env }, argv: process.argv, folder: process.cwd(), exitCode: process.exitCode }
  const taken = { stdout: '', stderr: '' }
  replaceEnv({ ...place.env, ...env })
  process.argv = [process.execPath, CLI, ...args]
  process.chdir(place.project)
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(input)]) })
  // A case that failed before has set one.
  process.exitCode = undefined
  try {
    await output.run(taken, () => runCommandLine(args))
    return { code: Number(process.exitCode ?? 0), ...taken }
  } finally {
    replaceEnv(before.env)
    process.argv = before.argv
    process.chdir(before.folder)
    Object.defineProperty(process, 'stdin', stdin)
    process.exitCode = before.exitCode
  }
}

/** Changes the variables themselves: the home folder is looked up in them, not in `process.env`. */
function replaceEnv(env: Record<string, string | undefined>): void {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
}
