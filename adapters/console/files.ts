import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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
  /** The compressed copies that are beside it. */
  encodings: readonly ('br' | 'gzip')[]
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
    const type = TYPES[name.split('.').at(-1) ?? '']
    if (type === undefined) continue
    const path = `${folder}/${name}`
    const digest = createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 22)
    const encodings = (['br', 'gzip'] as const).filter((encoding) => names.has(`${name}.${SUFFIX[encoding]}`))
    files.set(`/${name}`, { path, type, etag: `"${digest}"`, encodings })
  }
  return files
}

/** What a compressed copy's name ends in. */
export const SUFFIX = { br: 'br', gzip: 'gz' } as const
