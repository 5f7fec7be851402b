import { readFileSync, rmSync } from 'node:fs'
import { build } from 'esbuild'

/**
 * Bundles the command into dist/: one file for the start, and a chunk for each part that is loaded on first use.
 */
const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
rmSync('dist', { recursive: true, force: true })
await build({
  entryPoints: ['adapters/cli.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  keepNames: false,
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  external: Object.keys(dependencies),
  define: { GAZEWAY_VERSION: JSON.stringify(version) },
  // Bundled CommonJS modules ask for Node's own modules with require.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  metafile: true,
  logLevel: 'warning',
})
