import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Metafile } from 'esbuild'

/** Better ones take 20 s. */
const QUALITY = 9

/**
 * Packs what a tool server can load late, with its threads, for `src/kept-code.ts`: the text of each file by its name in
 * `dist`.
 */
export function packCode(outputs: Metafile['outputs']): Buffer {
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path) || !(path in outputs)) return
    found.add(path)
    for (const { path: imported } of outputs[path]?.imports ?? []) add(imported)
  }
  for (const [path, { entryPoint }] of Object.entries(outputs))
    if (entryPoint === 'adapters/stdio/stdio.ts' || path.startsWith('dist/threads/')) add(path)
  const texts = [...found].map((path) => [relative('dist', path), readFileSync(path, 'utf8')])
  return brotliCompressSync(JSON.stringify(Object.fromEntries(texts)), {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  })
}
