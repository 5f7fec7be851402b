import { readFile, stat } from 'node:fs/promises'
import { register } from 'node:module'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

const decompress = promisify(brotliDecompress)

/** The build's folder; this module is in a chunk of it. */
const DIST = new URL('../', import.meta.url)
/** All code that a process can load late, as JSON: `scripts/pack-code.ts`. */
const PACKED = new URL('code.json.br', DIST)
/** The tokenizer's table, by itself: as code it would be in the package twice. `scripts/token-table.ts` makes it. */
const TABLE = new URL('cl100k_base.json.br', DIST)

let kept: { packed: Buffer; version: string } | undefined
let keptTable: Buffer | undefined
/** Text of each file, by URL, once the files are gone. */
let served: Readonly<Record<string, string>> = {}

/**
 * Keeps all code in memory, compressed. From then on a replaced package does no harm to this process. Costs 2 MB, where
 * code that is loaded ahead costs 50 MB. Does nothing in the sources.
 */
export async function keepCode(): Promise<void> {
  if (import.meta.url.endsWith('.ts')) return
  const version = await packedVersion()
  kept = { packed: await readFile(PACKED), version }
  keptTable = await readFile(TABLE)
}

/**
 * Serves `import()` from memory if the files of the build were replaced or removed. Node remembers a failed import for
 * good, so this comes before each one.
 */
export async function serveKeptCode(): Promise<void> {
  if (kept === undefined || (await packedVersion()) === kept.version) return
  const texts = JSON.parse((await decompress(kept.packed)).toString()) as Record<string, string>
  served = Object.fromEntries(Object.entries(texts).map(([name, text]) => [new URL(name, DIST).href, text]))
  kept = undefined
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: served })
}

/** Reads a file of the build. */
export async function readCode(file: URL): Promise<string> {
  await serveKeptCode()
  return served[file.href] ?? readFile(file, 'utf8')
}

/**
 * Reads the table of the tokenizer's tokens, in the order of their numbers: text, or bytes that are no text alone.
 *
 * @public the build has the tokenizer import it: `scripts/bundle.ts`
 */
export async function readTokenTable(): Promise<(string | number[])[]> {
  return JSON.parse((await decompress(keptTable ?? (await readFile(TABLE)))).toString())
}

/** Identity of the packed code on the disk. Empty when it is gone. */
const packedVersion = (): Promise<string> =>
  stat(PACKED).then(
    ({ ino, mtimeMs }) => `${ino} ${mtimeMs}`,
    () => '',
  )

/** Runs in a thread of Node's: https://nodejs.org/docs/latest-v20.x/api/module.html#hooks */
const HOOKS = `
  let served
  export function initialize(texts) { served = texts }
  export function resolve(specifier, context, next) {
    const url = specifier.startsWith('.') ? new URL(specifier, context.parentURL).href : specifier
    return url in served ? { url, format: 'module', shortCircuit: true } : next(specifier, context)
  }
  export function load(url, context, next) {
    return url in served ? { format: 'module', source: served[url], shortCircuit: true } : next(url, context)
  }`
