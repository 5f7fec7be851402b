import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  wasm: 'application/wasm',
  bin: 'application/octet-stream',
}

/** One file of the built console. */
export interface ConsoleFile {
  /** Where it is on this machine. */
  path: string
  type: string
  etag: string
  /** Whether a copy that gzip has compressed is beside it: `PATH.gz`. */
  hasGzip: boolean
}

/** Where the build puts the console, seen from the bundle's chunks, from its start and from the source. */
const FOLDERS = ['../console', './console', '../../dist/console'].map((to) =>
  fileURLToPath(new URL(to, import.meta.url)),
)

/** The folder with the built console; null where it was not built. */
export function consoleFolder(): string | null {
  return FOLDERS.find((folder) => existsSync(`${folder}/index.html`)) ?? null
}

/** The files of a built console by their path in the address: `/index.html`, `/assets/main-1a2b.js`. */
export function consoleFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const names = new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/')),
  )
  const files = new Map<string, ConsoleFile>()
  for (const name of names) {
    if (typeOf(name) === undefined) continue
    files.set(`/${name}`, consoleFile(`${folder}/${name}`, names.has(`${name}.gz`)))
  }
  return files
}

const typeOf = (name: string): string | undefined => TYPES[name.split('.').at(-1) ?? '']

function consoleFile(path: string, hasGzip: boolean): ConsoleFile {
  const digest = createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 22)
  return { path, type: typeOf(path) ?? 'application/octet-stream', etag: `"${digest}"`, hasGzip }
}

/** The optional package that follows eyes in a webcam's picture. */
const HUMAN = '@vladmandic/human'
/** What finds a face, its landmarks, its irises and its expression. */
const HUMAN_MODELS = ['blazeface', 'facemesh', 'iris', 'emotion']

/** The files of {@link HUMAN} by their path in the address (`/assets/human/…`); none where it is not installed. */
export function webcamFiles(): ReadonlyMap<string, ConsoleFile> {
  const folder = humanFolder()
  if (folder === null) return new Map()
  const models = HUMAN_MODELS.flatMap((model) => [`models/${model}.json`, `models/${model}.bin`])
  return new Map(
    ['dist/human.esm.js', ...models].map((name) => [`/assets/human/${name}`, consoleFile(join(folder, name), false)]),
  )
}

function humanFolder(): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(HUMAN)), '..')
  } catch {
    return null
  }
}
