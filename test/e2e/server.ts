import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import { emptyStore, writeStore } from '../store/empty-store.ts'

/** The command as it is published. */
export const CLI = resolve('dist/cli.js')
if (!existsSync(CLI)) throw new Error('dist/cli.js is missing: run `npm run build` before the end-to-end tests.')

/** Generous: the machine that runs the tests may be busy with other things. */
export const PATIENCE_MS = 30_000

const EMPTY_STORE = await emptyStore()
/** Data folders whose store a server makes. */
const storeless = new Set<string>()

const leftovers: (() => unknown)[] = []
after(async () => {
  for (const clear of leftovers.reverse()) await clear()
})

/** A person's machine in miniature: a project under git, an empty home folder, and a folder for Gazeway's data. */
export interface Place {
  project: string
  home: string
  temporary: string
  /** Not there before a server makes it. */
  data: string
  /** Environment of a server: search path, home folder and data folder only. */
  env: Record<string, string>
}

/**
 * A new place, removed when the test file is done.
 *
 * @param options.withoutStore whether a server that starts there makes its store itself; otherwise it gets an empty one
 */
export function newPlace({ withoutStore = false } = {}): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-e2e-')))
  leftovers.push(() => rmSync(folder, { recursive: true, force: true }))
  const [project, home, temporary, data] = [
    join(folder, 'project'),
    join(folder, 'home'),
    join(folder, 'tmp'),
    join(folder, 'data'),
  ]
  for (const made of [project, home, temporary]) mkdirSync(made)
  writeProject(project, {
    'README.md': '# Parcels\n\nTracks parcels.\n',
    'src/track.ts': "export const track = (parcel: string) => 'tracking ' + parcel\n",
    'src/retry.ts': 'export const retries = 3\n',
  })
  const env = { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: temporary, GAZEWAY_HOME: data }
  if (withoutStore) storeless.add(data)
  return { project, home, temporary, data, env }
}

/** Writes files into a folder and commits them to a repository there. */
export function writeProject(root: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false']
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...identity, ...args], { stdio: 'ignore' })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'All')
}

/** Gives a server that is about to start an empty store: migrations are a fifth of a first start. */
export function putStore({ data }: Place): void {
  if (!storeless.has(data) && !existsSync(data)) writeStore(join(data, 'gazeway.db'), EMPTY_STORE)
}

export interface ServerOptions {
  /** The command's file; by default that of this build. */
  cli?: string
  args?: string[]
  env?: Record<string, string>
}

/** Starts the server and connects the SDK's own client to it, as an assistant does. */
export async function connect(
  place: Place,
  options: ServerOptions & { capabilities?: ClientOptions['capabilities']; prepare?: (client: Client) => void } = {},
) {
  const { cli = CLI, args = [], env = {}, capabilities = {}, prepare } = options
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  prepare?.(client)
  putStore(place)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, ...args],
    cwd: place.project,
    env: { ...place.env, ...env },
    stderr: 'pipe',
  })
  const errors: string[] = []
  transport.stderr?.on('data', (chunk) => errors.push(String(chunk)))
  leftovers.push(() => client.close())
  await client.connect(transport)
  return {
    client,
    /** Output of the server on stderr so far. */
    stderr: () => errors.join(''),
    /** A tool's result; one that failed as well. */
    async call(name: string, input: Record<string, unknown> = {}, options: RequestOptions = {}) {
      const result = await client.callTool({ name, arguments: input }, undefined, { timeout: PATIENCE_MS, ...options })
      return result as unknown as ToolReply
    },
  }
}

/** A tool's result as the tests look at it. */
export interface ToolReply {
  isError?: boolean
  content: { type: string; text: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, it asserts
  structuredContent: any
  _meta?: { error: { code: string; message: string; param: string | null } }
}

/** A JSON-RPC message from the server. */
// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, it asserts
type Message = Record<string, any>

/** The server's bare ends, for what no proper client would do. */
export function spawnServer(place: Place, { args = [], env = {} }: ServerOptions = {}) {
  putStore(place)
  const child = spawn(process.execPath, [CLI, ...args], { cwd: place.project, env: { ...place.env, ...env } })
  return watch(child)
}

/** Follows a server that was started by whatever means; `patience` is how long it may take for a message. */
export function watch(child: ChildProcessWithoutNullStreams, patience = PATIENCE_MS) {
  const messages: Message[] = []
  const readers = new Set<() => void>()
  const output: string[] = []
  const errors: string[] = []
  const exit = once(child, 'close').then(([code, signal]) => ({ code: code as number | null, signal }))
  leftovers.push(() => child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
  // A server that has gone refuses what is still written to it; its exit is what tests look at.
  child.stdin.on('error', () => {})
  child.stderr.on('data', (chunk) => errors.push(String(chunk)))
  createInterface({ input: child.stdout }).on('line', (line) => {
    output.push(line)
    const message = parseJson(line)
    if (message) messages.push(message)
    for (const look of readers) look()
  })

  /** The first message, received or to come, that fits. */
  async function message(fits: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error(`No such message. So far: ${output.join('\n')}\n${errors.join('')}`))
      const timer = setTimeout(giveUp, patience)
      const look = () => {
        const found = messages.find(fits)
        if (!found) return
        clearTimeout(timer)
        readers.delete(look)
        resolve(found)
      }
      readers.add(look)
      look()
    })
  }

  const send = (...lines: unknown[]) =>
    void child.stdin.write(lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...(line as object) })}\n`).join(''))
  const answer = (id: number | string) => message((candidate) => candidate.id === id && !('method' in candidate))

  return {
    child,
    exit,
    messages,
    send,
    answer,
    message,
    write: (bytes: string | Uint8Array) => void child.stdin.write(bytes),
    /** Lines on stdout so far. */
    stdout: () => output.join('\n'),
    stderr: () => errors.join(''),
    /** Shakes hands as a client does. */
    async initialize(capabilities: object = {}) {
      const params = { protocolVersion: '2025-06-18', capabilities, clientInfo: { name: 'test', version: '1' } }
      send({ id: 'initialize', method: 'initialize', params })
      const { result } = await answer('initialize')
      send({ method: 'notifications/initialized' })
      return result
    },
    /** Calls a tool; the answer comes with `answer(id)`. */
    callTool(id: number | string, name: string, input: unknown, meta?: object) {
      send({ id, method: 'tools/call', params: { name, arguments: input, ...(meta ? { _meta: meta } : {}) } })
    },
    /** Fails unless stdout carried nothing but JSON-RPC 2.0, one message on each line. */
    assertProtocolOnly() {
      for (const line of output) assert.equal(JSON.parse(line).jsonrpc, '2.0', `not JSON-RPC: ${line}`)
    },
  }
}

/** A line as a message; `assertProtocolOnly` finds those that are none. */
function parseJson(line: string): Message | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Runs the command to its end. */
export async function run(place: Place, args: string[], env: Record<string, string> = {}, input = '') {
  const child = spawn(process.execPath, [CLI, ...args], { cwd: place.project, env: { ...place.env, ...env } })
  return finish(child, input)
}

/** Gives a process its input and waits for its end. */
export async function finish(child: ChildProcessWithoutNullStreams, input = '') {
  const [out, err]: [string[], string[]] = [[], []]
  leftovers.push(() => child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
  child.stdout.on('data', (chunk) => out.push(String(chunk)))
  child.stderr.on('data', (chunk) => err.push(String(chunk)))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code] = await once(child, 'close')
  return { code: code as number | null, stdout: out.join(''), stderr: err.join('') }
}
