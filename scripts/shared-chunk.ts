import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'

/** Modules that every start of the tool server loads, in this order. */
const ON_START = ['adapters/command/program.ts', 'adapters/stdio/stdio.ts']
/** The folders whose modules only a start loads. */
const OF_START_ALONE = /^adapters\/(command|stdio)\//
const NAME = 'start:shared'
const STATIC = ['import-statement', 'require-call']

/**
 * Keeps the modules that every start loads in one chunk. esbuild makes a chunk for each set of entry points that share a
 * module, which is a file for nearly every module, and a file costs more to load than its code. So whatever is loaded later
 * imports these modules, too: they are there by then.
 *
 * @param metafile of a build without this plugin
 * @param entryPoints of the processes and threads
 */
export function sharedChunk({ inputs, outputs }: Metafile, entryPoints: readonly string[]): Plugin {
  const [, ...threads] = entryPoints
  // A thread starts without them.
  const ofThreads = reached(inputs, threads, [...STATIC, 'dynamic-import'])
  const shared = [...reached(inputs, ON_START, STATIC)].filter((path) => isOwn(path) && !OF_START_ALONE.test(path))
  const later = Object.values(outputs)
    .flatMap(({ entryPoint }) => entryPoint ?? [])
    .filter((path) => isOwn(path) && !entryPoints.includes(path) && !ofThreads.has(path))
    .filter((path) => path !== ON_START[0])
  const importing = new Set(later.map((path) => resolve(path)))

  return {
    name: 'shared-chunk',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`^${NAME}$`) }, () => ({ path: NAME, namespace: NAME }))
      onLoad({ filter: /./, namespace: NAME }, () => ({
        contents: shared.map((path) => `import ${JSON.stringify(resolve(path))}\n`).join(''),
        resolveDir: resolve('.'),
      }))
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        importing.has(path)
          ? { contents: `${readFileSync(path, 'utf8')}\nimport '${NAME}'\n`, loader: 'ts' }
          : undefined,
      )
    },
  }
}

const isOwn = (path: string) => /^(src|adapters|tools)\//.test(path)

/** The modules that are loaded with some, themselves among them. */
function reached(inputs: Metafile['inputs'], from: readonly string[], kinds: readonly string[]): Set<string> {
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: imported, kind } of inputs[path]?.imports ?? []) if (kinds.includes(kind)) add(imported)
  }
  from.forEach(add)
  return found
}
