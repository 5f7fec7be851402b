import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { asThreads } from '../../scripts/threads.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Folder of the programs that the processes of a run share; `npm test` names it, and the first that needs one makes it. */
const SHARED = process.env.GAZEWAY_TEST_PROGRAMS
const folder = SHARED ?? mkdtempSync(join(tmpdir(), 'gazeway-programs-'))
const { version, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
if (SHARED === undefined) after(() => rmSync(folder, { recursive: true }))

/**
 * Bundles a program that tests start, once, because most of a short life would go into loading its modules.
 *
 * @param file path of its source
 * @returns path of the bundle, there until the test file ends
 */
export function bundledProgram(file: string): string {
  const name = basename(file, '.ts')
  const home = join(folder, relative(ROOT, resolve(ROOT, file)).replaceAll(/[\\/]/g, '-'))
  if (!existsSync(home)) makeProgram(home, { [name]: file })
  return join(home, `${name}.js`)
}

function makeProgram(home: string, entryPoints: Record<string, string>): void {
  const outdir = `${home}-${process.pid}`
  mkdirSync(outdir, { recursive: true })
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(outdir, name))
  const options = {
    entryPoints,
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
  try {
    renameSync(outdir, home)
  } catch (error) {
    // Another process has made it meanwhile.
    if (!existsSync(home)) throw error
  }
}
