import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { freePort } from '../doubles/free-port.ts'
import { CLAUDE } from '../e2e/claude.ts'
import { CLI, newPlace } from '../e2e/server.ts'
import { type Block, blocksOf } from './markdown.ts'
import { REVIEW_LINK, readReview } from './read-review.ts'
import { patternOf } from './shown-output.ts'

const BIN = 'node_modules/.bin'
/** Generous: a block may wait for an alert or for a payment. */
const PATIENCE_MS = 150_000
/** The last line of a block that starts what goes on running, in a terminal of its own. */
const SERVICE = /^(?:\w+=\S+ )*(?:gazeway --(?:http|platform)|npx -y @foundry-rs\/anvil).*\n$/m
/** A block that stops what was started last. */
const STOP = /^# Ctrl\+C/
const NEXT = '-- the next block --'
/** Ports as commands and addresses have them. */
const PORTS = /(?:127\.0\.0\.1:|-port )(\d{4,5})\b/g
/** Those of the services unless a flag says otherwise, and the variables that set them. */
const DEFAULT_PORTS = { GAZEWAY_PORT: '8811', GAZEWAY_PLATFORM_PORT: '8812' }

const running = new Set<() => Promise<void>>()
after(() => Promise.all([...running].map((stop) => stop())))

/** A block of commands of a guide, and what came of it. */
export interface Step {
  text: string
  /** The block right after it, where that shows what is printed. */
  shown: Block | undefined
  output: string
  /** The commands that ended with an error, each behind its exit code. */
  failed: string[]
}

/**
 * Follows a guide as its reader does: in an empty home folder, block by block, what goes on running in terminals of its
 * own. Ports are replaced by free ones; what is printed has the page's own again.
 *
 * @param page Markdown; `sh` blocks are run
 * @param here text of the page → what is true on this machine, such as the address of a database
 */
export async function followGuide(page: string, here: Readonly<Record<string, string>> = {}): Promise<Step[]> {
  const said = [...Object.entries(here), ...(await portsOf(page))]
  const place = newPlace()
  const shims = writeShims(place.temporary)
  const ports = Object.entries(DEFAULT_PORTS).map(([name, port]) => [name, said.find(([page]) => page === port)?.[1]])
  const env = {
    PATH: [shims, dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: place.home,
    TMPDIR: place.temporary,
    LANG: 'C.UTF-8',
    ...(Object.fromEntries(ports) as Record<string, string>),
  }
  const terminal = openTerminal(place.home, env, place.temporary)
  const services: Service[] = []
  const steps: Step[] = []
  try {
    for (const { text, shown } of stepsOf(page)) {
      const local = said.reduce((all, [from, to]) => all.replaceAll(from, to), text)
      const asShown = (output: string) => said.reduce((all, [from, to]) => all.replaceAll(to, from), output)
      if (STOP.test(text)) await services.pop()?.stop()
      else if (SERVICE.test(text)) {
        const service = openService(local, place.home, env)
        services.push(service)
        const started = /--platform/.test(text) ? /platform on http/ : /on http|Listening on/
        const pattern = shown === undefined ? started : new RegExp(patternOf(shown.text.trim()))
        const output = await service.says(pattern, asShown)
        steps.push({ text, shown, output, failed: [] })
      } else {
        const { output, failed } = await terminal.enter(local)
        steps.push({ text, shown, output: asShown(output), failed })
      }
    }
    return steps
  } finally {
    await terminal.close()
    for (const service of services.reverse()) await service.stop()
  }
}

/** The `sh` blocks of a page, each with the block right below it where that shows its output. */
function stepsOf(page: string): { text: string; shown: Block | undefined }[] {
  const blocks = blocksOf(page)
  return blocks.flatMap((block, i) => {
    if (block.language !== 'sh') return []
    const next = blocks[i + 1]
    const isShown = next !== undefined && ['text', 'json'].includes(next.language)
    return [{ text: block.text, shown: isShown ? next : undefined }]
  })
}

async function portsOf(page: string): Promise<[string, string][]> {
  const named = [...page.matchAll(PORTS)].map(([, port = '']) => port)
  const ports = [...new Set([...Object.values(DEFAULT_PORTS), ...named])]
  return Promise.all(ports.map(async (port): Promise<[string, string]> => [port, String(await freePort())]))
}

/** Packages that guides start with `npx`, and their commands in `node_modules/.bin`. */
const PACKAGES = {
  '@modelcontextprotocol/inspector': 'mcp-inspector',
  '@foundry-rs/anvil': 'anvil',
  'solc@0.8.37': 'solcjs',
}

/** Writes commands that stand for installed ones: `gazeway` starts what is built here, `npx` what is installed here. */
function writeShims(folder: string): string {
  const bin = join(folder, 'bin')
  const packages = Object.entries(PACKAGES).map(
    ([name, command]) => `  ${name}) exec '${resolve(BIN, command)}' "$@" ;;`,
  )
  const shims = {
    npx: `shift; name=$1; shift
case $name in
${packages.join('\n')}
  *) echo "No test has installed $name" >&2; exit 1 ;;
esac`,
    gazeway: `exec '${process.execPath}' '${CLI}' "$@"`,
    claude: `exec ${CLAUDE.map((word) => `'${word}'`).join(' ')} "$@"`,
  }
  mkdirSync(bin)
  for (const [name, script] of Object.entries(shims)) {
    writeFileSync(join(bin, name), `#!/usr/bin/env bash\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

/** A shell that keeps its variables, folder and jobs from block to block. */
function openTerminal(cwd: string, env: Record<string, string>, folder: string) {
  const shell = spawn('bash', [], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  const stop = stopping(shell)
  const lines = createInterface({ input: shell.stdout })
  const [block, failures] = [join(folder, 'block.sh'), join(folder, 'failed')]
  shell.stdin.write(`exec 2>&1; set -E; trap 'echo "$? $BASH_COMMAND" >> "${failures}"' ERR\n`)
  return {
    async enter(text: string): Promise<{ output: string; failed: string[] }> {
      writeFileSync(block, text)
      const output: string[] = []
      const ended = new Promise<void>((done, reject) => {
        const giveUp = () => reject(new Error(`This has not ended in time: ${text}\n${output.join('\n')}`))
        const timer = setTimeout(giveUp, PATIENCE_MS)
        const read = (line: string) => {
          const [link] = REVIEW_LINK.exec(line) ?? []
          if (link !== undefined) readReview(link).catch(reject)
          if (line !== NEXT) return void output.push(line)
          clearTimeout(timer)
          lines.off('line', read)
          done()
        }
        lines.on('line', read)
      })
      writeFileSync(failures, '')
      shell.stdin.write(`. '${block}' < /dev/null\necho; echo '${NEXT}'\n`)
      await ended
      const failed = readFileSync(failures, 'utf8').trimEnd().split('\n')
      return {
        output: output.join('\n').trimEnd(),
        failed: failed.filter((line) => line !== '' && !line.includes(block)),
      }
    },
    async close(): Promise<void> {
      shell.stdin.end()
      await stop()
    },
  }
}

type Service = ReturnType<typeof openService>

/** A terminal in which something goes on running. */
function openService(text: string, cwd: string, env: Record<string, string>) {
  const shell = spawn('bash', ['-c', text.replace(/^(.*)\n$/m, '$1')], { cwd, env, detached: true })
  const stop = stopping(shell)
  const said: string[] = []
  let look = () => {}
  for (const stream of [shell.stdout, shell.stderr])
    stream.on('data', (chunk) => {
      said.push(String(chunk))
      look()
    })
  return {
    stop,
    /** Waits until it has said something, as the page would show it. @returns all that it has said */
    says(pattern: RegExp, asShown: (output: string) => string): Promise<string> {
      return new Promise((done, reject) => {
        const giveUp = () => reject(new Error(`It has not said ${pattern} in time: ${asShown(said.join(''))}`))
        const timer = setTimeout(giveUp, PATIENCE_MS)
        look = () => {
          const output = asShown(said.join('')).replaceAll(/[ \t]+$/gm, '')
          if (!pattern.test(output)) return
          clearTimeout(timer)
          done(output)
        }
        look()
      })
    },
  }
}

/** Ends a terminal and all that was started in it, as Ctrl+C does. */
function stopping(shell: ChildProcess): () => Promise<void> {
  const exit = once(shell, 'close')
  async function stop(): Promise<void> {
    running.delete(stop)
    if (shell.exitCode === null && shell.signalCode === null && shell.pid !== undefined)
      process.kill(-shell.pid, 'SIGINT')
    await exit
  }
  running.add(stop)
  assert.ok(shell.pid, 'bash could not be started')
  return stop
}
