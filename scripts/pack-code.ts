import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { Metafile } from 'esbuild'

/** The densest: 10 takes half as long, 5 s, for 26 KB more in each download. */
const QUALITY = constants.BROTLI_MAX_QUALITY

/** Packs all code that is loaded late, for `src/kept-code.ts`: the text of each file by its name in `dist`. */
export function packCode(outputs: Metafile['outputs']): Buffer {
  const files = Object.keys(outputs).filter((path) => /\.c?js$/.test(path))
  const texts = files.map((path) => [relative('dist', path), readFileSync(path, 'utf8')])
  return packJson(Object.fromEntries(texts))
}

/** Packs a value as JSON. */
export function packJson(value: unknown): Buffer {
  return brotliCompressSync(JSON.stringify(value), {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  })
}
