import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'

/** Modules that every start of the tool server loads, in this order. */
const ON_START = ['adapters/command/program.ts', 'adapters/stdio/stdio.ts']
const NAME = 'start:shared'
const STATIC = ['import-statement', 'require-call']

/**
 * Keeps the modules that every start loads, and other parts too, in one chunk. esbuild makes a chunk for each set of entry
 * points that share a module, which is a file for nearly every module, and a file costs more to load than its code. So
 * whatever is loaded later imports these modules, too: they are there by then.
 *
 * @param metafile of a build without this plugin
 * @param entryPoint of the command
 */
export function sharedChunk({ inputs, outputs }: Metafile, entryPoint: string): Plugin {
  const parts = Object.values(outputs)
    .flatMap((output) => output.entryPoint ?? [])
    .filter((path) => isOwn(path) && path !== entryPoint)
  const later = parts.filter((path) => !ON_START.includes(path))
  const inLater = reached(inputs, later)
  const shared = [...reached(inputs, ON_START)].filter((path) => isOwn(path) && inLater.has(path))
  const importing = new Set(parts.map((path) => resolve(path)))

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
function reached(inputs: Metafile['inputs'], from: readonly string[]): Set<string> {
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: imported, kind } of inputs[path]?.imports ?? []) if (STATIC.includes(kind)) add(imported)
  }
  from.forEach(add)
  return found
}
