import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { OpenApi } from '../../adapters/platform/openapi.ts'

/** The part of openapi-typescript that is used here. */
interface Generator {
  default(document: object): Promise<unknown[]>
  astToString(nodes: unknown[]): string
}

const HEADER = '/** Types of the platform API, generated from /openapi.json: run npm run api. */\n'

/** Gives the generator the compiler's API as a library, which the package of the compiler has no longer. */
const compilerApi: Plugin = {
  name: 'compiler-api',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^typescript$/ }, () => ({ path: 'typescript', namespace: 'compiler-api' }))
    onLoad({ filter: /./, namespace: 'compiler-api' }, () => ({
      contents: `module.exports = require('@ts-morph/common').ts`,
      resolveDir: resolve('.'),
    }))
  },
}

/** Generates the TypeScript types of an API. Descriptions are omitted; /docs has them. */
export async function apiTypes(document: OpenApi): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-api-'))
  const outfile = join(folder, 'generator.cjs')
  try {
    const contents = `export * from 'openapi-typescript'; export { default } from 'openapi-typescript'`
    await build({
      stdin: { contents, resolveDir: resolve('.') },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      plugins: [compilerApi],
      logLevel: 'silent',
    })
    const generator: Generator = createRequire(import.meta.url)(outfile)
    return HEADER + generator.astToString(await generator.default(bare(document) as object))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A copy of a part of the document without texts for people. */
function bare(part: unknown, isNames = false): unknown {
  if (Array.isArray(part)) return part.map((one) => bare(one))
  if (typeof part !== 'object' || part === null) return part
  const kept = Object.entries(part).filter(
    ([key, value]) => isNames || !(UNTYPED.includes(key) || (typeof value === 'string' && TEXTS.includes(key))),
  )
  return Object.fromEntries(kept.map(([key, value]) => [key, bare(value, !isNames && key === 'properties')]))
}

const TEXTS = ['description', 'summary', 'pattern', 'format']
/** Keys without a meaning for types. A default would make its field required, which only a reply's is. */
const UNTYPED = ['example', 'default']
