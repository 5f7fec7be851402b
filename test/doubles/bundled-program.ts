import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { asThreads } from '../../scripts/threads.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gazeway-programs-'))
for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name))
const { version, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
after(() => rmSync(folder, { recursive: true }))
const built = new Map<string, string>()

/**
 * Bundles a program that tests start, once, because most of a short life would go into loading its modules.
 *
 * @param file path of its source
 * @returns path of the bundle, there until the test file ends
 */
export function bundledProgram(file: string): string {
  const known = built.get(file)
  if (known !== undefined) return known
  const name = basename(file, '.ts')
  const outdir = join(folder, `${built.size}`)
  const options = {
    entryPoints: { [name]: file },
    absWorkingDir: ROOT,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node' as const,
    format: 'esm' as const,
    define: { GAZEWAY_PACKAGE: JSON.stringify(JSON.stringify({ version, node: engines.node })) },
    external: ['@photostructure/sqlite', 'pg-native'],
    // Bundled CommonJS modules ask for Node's own modules with require.
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  }
  buildSync(options)
  buildSync(asThreads(options))
  const program = join(outdir, `${name}.js`)
  built.set(file, program)
  return program
}
