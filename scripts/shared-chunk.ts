import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'

/** Modules that every start of the tool server loads, in this order. */
const ON_START = ['adapters/command/program.ts', 'adapters/stdio/stdio.ts']
/** The gateway, with which nearly all is loaded that is not for a start alone. */
const GATEWAY = 'src/gateway.ts'
const STATIC = ['import-statement', 'require-call']

/** A chunk that parts share. */
interface Shared {
  modules: readonly string[]
  /** Absolute paths of the parts that import them. */
  importing: ReadonlySet<string>
}

/**
 * Keeps the modules that every start loads, and other parts too, in one chunk, and those of the gateway in another one.
 * esbuild makes a chunk for each set of entry points that share a module, which is a file for nearly every module, and a
 * file costs more to load than its code. So whatever is loaded later imports these modules, too: they are there by then.
 *
 * @param metafile of a build without this plugin
 * @param entryPoint of the command
 */
export function sharedChunk({ inputs, outputs }: Metafile, entryPoint: string): Plugin {
  const parts = Object.values(outputs)
    .flatMap((output) => output.entryPoint ?? [])
    .filter((path) => isOwn(path) && path !== entryPoint)
  const start: Shared = { modules: sharedBy(inputs, ON_START, parts), importing: resolved(parts) }
  const late = withGateway(inputs, entryPoint, parts)
  const ofGateway = sharedBy(inputs, [GATEWAY], late).filter((path) => !start.modules.includes(path))
  const gateway: Shared = { modules: ofGateway, importing: resolved(late) }
  return importing({ 'start:shared': start, 'gateway:shared': gateway })
}

/** Parts that are loaded with the gateway, or after it. */
function withGateway(inputs: Metafile['inputs'], entryPoint: string, parts: readonly string[]): string[] {
  const opening = parts.filter((part) => reached(inputs, [part]).has(GATEWAY))
  const before = reached(inputs, [entryPoint], { kinds: [...STATIC, 'dynamic-import'], without: opening })
  return parts.filter((part) => !before.has(part))
}

/** Has parts import modules besides what their sources do: `NAME:shared` is a module that imports those of a chunk. */
function importing(chunks: Readonly<Record<string, Shared>>): Plugin {
  return {
    name: 'shared-chunk',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\w+:shared$/ }, ({ path }) => ({ path, namespace: 'shared' }))
      onLoad({ filter: /./, namespace: 'shared' }, ({ path: name }) => ({
        contents: (chunks[name]?.modules ?? []).map((path) => `import ${JSON.stringify(resolve(path))}\n`).join(''),
        resolveDir: resolve('.'),
      }))
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const names = Object.keys(chunks).filter((name) => chunks[name]?.importing.has(path))
        if (names.length === 0) return undefined
        const imports = names.map((name) => `import '${name}'\n`)
        return { contents: `${readFileSync(path, 'utf8')}\n${imports.join('')}`, loader: 'ts' }
      })
    },
  }
}

const isOwn = (path: string) => /^(src|adapters|tools)\//.test(path)

const resolved = (paths: readonly string[]) => new Set(paths.map((path) => resolve(path)))

/** Own modules that are loaded with some parts, and with others too. */
function sharedBy(inputs: Metafile['inputs'], some: readonly string[], parts: readonly string[]): string[] {
  const others = parts.filter((path) => !some.includes(path))
  const inOthers = reached(inputs, others)
  return [...reached(inputs, some)].filter((path) => isOwn(path) && inOthers.has(path))
}

/**
 * The modules that are loaded with some, themselves among them.
 *
 * @param options.kinds of imports that are followed, by default those that load at once
 * @param options.without modules that are not followed
 */
function reached(
  inputs: Metafile['inputs'],
  from: readonly string[],
  { kinds = STATIC, without = [] }: { kinds?: readonly string[]; without?: readonly string[] } = {},
): Set<string> {
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path) || without.includes(path)) return
    found.add(path)
    for (const { path: imported, kind } of inputs[path]?.imports ?? []) if (kinds.includes(kind)) add(imported)
  }
  from.forEach(add)
  return found
}
