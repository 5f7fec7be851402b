import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { CLI, finish, newPlace, PATIENCE_MS, type Place } from '../e2e/server.ts'
import { asBuilt } from './entry.ts'
import { type Block, blocksOf } from './markdown.ts'

/** The commands in a terminal: `gazeway` starts the built command, and `curl` fails where the reply is an error. */
const PRELUDE = `set -eu
gazeway() { "$NODE" "$CLI" "$@"; }
curl() { command curl --silent --show-error --fail-with-body "$@"; }
`
const NEXT = '-- the next block --'

const running = new Set<() => void>()
after(() => {
  for (const kill of running) kill()
})

/** Output of a block of commands. */
export interface Told extends Block {
  stdout: string
}

/**
 * Does what a section of a page says, as a person would: starts the service of its first `sh` block, and enters the
 * others in a second terminal.
 *
 * @param page Markdown, of that section only
 * @returns every block after the first, in order
 */
export async function walkThrough(page: string): Promise<Told[]> {
  const [start, ...blocks] = commandsOf(page)
  const place = newPlace()
  const service = await startService(place, start?.text.trim() ?? '')
  try {
    return await enter(blocks, place, (text) =>
      text
        .replaceAll('http://127.0.0.1:8811', service.gateway)
        .replaceAll('http://127.0.0.1:8812', service.platform ?? ''),
    )
  } finally {
    await service.stop()
  }
}

/**
 * Enters blocks of commands in one terminal.
 *
 * @param here puts what is true here in place of what the page says, such as a port
 */
export async function enter(blocks: readonly Block[], place: Place, here: (text: string) => string): Promise<Told[]> {
  const script = PRELUDE + blocks.map(({ text }) => `${here(text)}\necho\necho '${NEXT}'\n`).join('')
  const env = { ...place.env, NODE: process.execPath, CLI }
  const shell = spawn('bash', ['-s'], { cwd: place.project, env })
  const { code, stdout, stderr } = await finish(shell, script)
  assert.equal(code, 0, stdout + stderr)
  const told = stdout.split(`\n${NEXT}\n`)
  return blocks.map((block, i) => ({ ...block, stdout: told[i] ?? '' }))
}

/** The blocks of a page that are run. */
export const commandsOf = (page: string): Block[] => blocksOf(page).filter(({ language }) => language === 'sh')

/** Starts `gazeway …` on free ports, and waits until all that it serves is there. */
async function startService(place: Place, line: string) {
  const [command = '', ...words] = line.split(' ')
  const { args } = asBuilt({ command, args: words })
  const child = spawn(process.execPath, [CLI, ...args, '--port', '0', '--platform-port', '0'], {
    cwd: place.project,
    env: place.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  running.add(kill)
  const exit = once(child, 'close').finally(() => running.delete(kill))
  const said: string[] = []
  const timer = setTimeout(kill, PATIENCE_MS)
  const lines = createInterface({ input: child.stderr })
  const address = (what: string) => new RegExp(`${what} on (http://[\\d.:]+)`).exec(said.join('\n'))?.[1]
  const awaited = ['gateway', ...(args.includes('--platform') ? ['platform'] : [])]
  for await (const text of lines) {
    said.push(text)
    if (awaited.every(address)) break
  }
  clearTimeout(timer)
  assert.ok(awaited.every(address), said.join('\n'))
  child.stderr.resume()
  return {
    gateway: address('gateway') ?? '',
    platform: address('platform'),
    async stop() {
      child.kill('SIGTERM')
      assert.deepEqual(await exit, [0, null])
    },
  }
}
