import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const compress = promisify(gzip)

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  wasm: 'application/wasm',
  bin: 'application/octet-stream',
}

/** File of the built console. */
export interface ConsoleFile {
  type: string
  /** The tag of its present content, if it is known without reading the content. */
  knownEtag: () => Promise<string | null>
  /** Reads its content, and the tag that names it. Null when the file is gone. */
  read: () => Promise<Content | null>
  /** Content compressed with gzip on the first request; null for small or already compressed files. */
  gzipped: (() => Promise<Buffer>) | null
}

interface Content {
  bytes: Buffer
  etag: string
}

const COMPRESSED = /\.(html|js|css|svg|json)$/
/** Minimum size of a file that is compressed, in bytes. */
const COMPRESSED_FROM_BYTES = 1024

/** Folders of the built console, relative to the bundle's chunks, to the bundle's entry and to the source. */
const FOLDERS = ['../console', './console', '../../dist/console'].map((to) =>
  fileURLToPath(new URL(to, import.meta.url)),
)

/** Finds the folder of the built console; null when it was not built. */
export function consoleFolder(): string | null {
  return FOLDERS.find((folder) => existsSync(`${folder}/index.html`)) ?? null
}

/**
 * Reads the files of a built console, by their path in the address: `/index.html`, `/assets/main-1a2b.js`. They stay in
 * memory, so that pages work until a restart when another version replaces the files.
 */
export function consoleFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  return new Map(
    names
      .filter((name) => typeOf(name) !== undefined)
      .map((name) => {
        const content = tagged(readFileSync(`${folder}/${name}`))
        const isCompressed = COMPRESSED.test(name) && content.bytes.length >= COMPRESSED_FROM_BYTES
        const gzipped = isCompressed ? gzippedOnce(content.bytes) : null
        const type = typeOf(name) ?? OTHER
        return [`/${name}`, { type, knownEtag: async () => content.etag, read: async () => content, gzipped }]
      }),
  )
}

const typeOf = (name: string): string | undefined => TYPES[name.split('.').at(-1) ?? '']

/** Type of a file whose ending says nothing. */
const OTHER = 'application/octet-stream'

const tagged = (bytes: Buffer): Content => ({
  bytes,
  etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
})

/** Compresses a file at its first request, and keeps the result. The whole console is small. */
function gzippedOnce(content: Buffer): () => Promise<Buffer> {
  let zipping: Promise<Buffer> | undefined
  return () => {
    zipping ??= compress(content, { level: 9 })
    return zipping
  }
}

/** Optional package that follows eyes in images of a webcam. */
const HUMAN = '@vladmandic/human'
/** Models that detect a face, its landmarks, irises and expression. */
const HUMAN_MODELS = ['blazeface', 'facemesh', 'iris', 'emotion']

/**
 * Lists the files of {@link HUMAN} by their path in the address (`/assets/human/…`). Empty when it is not installed.
 */
export function webcamFiles(): ReadonlyMap<string, ConsoleFile> {
  const folder = humanFolder()
  if (folder === null) return new Map()
  const models = HUMAN_MODELS.flatMap((model) => [`models/${model}.json`, `models/${model}.bin`])
  return new Map(
    ['dist/human.esm.js', ...models].map((name) => [`/assets/human/${name}`, fileOnDisk(join(folder, name))]),
  )
}

/**
 * Describes a file that is too large to keep in memory, and is seldom asked for. It may be removed or replaced while the
 * process runs.
 */
export function fileOnDisk(path: string): ConsoleFile {
  let known: { etag: string; state: string } | null = null
  return {
    type: typeOf(path) ?? OTHER,
    knownEtag: async () => (known !== null && (await stateOf(path)) === known.state ? known.etag : null),
    read: async () => {
      // Before the content: a change in between is seen at the next request.
      const state = await stateOf(path)
      const bytes = state === null ? null : await readFile(path).catch(nullIfGone)
      if (state === null || bytes === null) return null
      const content = tagged(bytes)
      known = { etag: content.etag, state }
      return content
    },
    gzipped: null,
  }
}

/** State of a file that a change of its content changes. The time of change is used: packages set that of modification. */
async function stateOf(path: string): Promise<string | null> {
  const stats = await stat(path, { bigint: true }).catch(nullIfGone)
  return stats && [stats.ino, stats.size, stats.ctimeNs].join(' ')
}

function nullIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

function humanFolder(): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(HUMAN)), '..')
  } catch {
    return null
  }
}
