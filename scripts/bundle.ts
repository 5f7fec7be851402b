import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'
import { describeSkills } from '../adapters/stdio/describe-skills.ts'
import { describeTools } from '../adapters/stdio/describe-tools.ts'
import { CONFIG_KEYS, DEFAULTS } from '../src/config/config-keys.ts'
import { lazySchemas } from './lazy-schemas.ts'

/** Omits what a start would load and never use. */
const slim: Plugin = {
  name: 'slim',
  setup({ onLoad }) {
    // zod's messages in fifty languages: Gazeway words its own.
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
    }))
    // gray-matter would evaluate a front matter in JavaScript; that is not even in the bundle.
    onLoad({ filter: /gray-matter[\\/]lib[\\/]engines\.js$/ }, () => ({
      contents:
        "const { safeLoad, safeDump } = require('js-yaml'); exports.yaml = { parse: safeLoad, stringify: safeDump }",
    }))
    // Of undici, only its connections and its errors are imported; its fetch, WebSocket and mocks are half of it, and
    // 2 MB resident.
    onLoad({ filter: /node_modules[\\/]undici[\\/]index\.js$/ }, () => ({
      contents: `
        exports.Pool = require('./lib/dispatcher/pool.js')
        exports.Agent = require('./lib/dispatcher/agent.js')
        exports.buildConnector = require('./lib/core/connect.js')
        exports.errors = require('./lib/core/errors.js')
        require('./lib/dispatcher/dispatcher.js').prototype.connect = require('./lib/api/api-connect.js')`,
    }))
    // By its name `z`, zod is one object that holds all of it; by `* as z`, only what is used.
    onLoad({ filter: /node_modules[\\/]mppx[\\/]dist[\\/]zod\.js$/ }, ({ path }) => ({
      contents: replaced(path, /import \{ z \} from 'zod\/mini'/g, "import * as z from 'zod/mini'"),
    }))
    // The page on which a person pays in a browser: Gazeway does not turn it on, and it takes 700 KB.
    onLoad({ filter: /mppx[\\/]dist[\\/]tempo[\\/]server[\\/]internal[\\/]html\.gen\.js$/ }, () => ({
      contents: 'export const html = null',
    }))
    // The MCP server checks a client's elicited answers with Ajv; Gazeway elicits none.
    onLoad({ filter: /@modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/ }, () => ({
      contents: "import process from 'node:process'; export { process }; export class DefaultJsonSchemaValidator {}",
    }))
    // The SDK makes a schema of each type of the protocol for an export that Gazeway does not import. Without that, and
    // with each schema marked as one without side effects, esbuild omits those that nothing else uses.
    onLoad({ filter: /@modelcontextprotocol[\\/]server[\\/]dist[\\/]src-[\w-]+\.mjs$/ }, ({ path }) => ({
      contents: lazySchemas(
        replaced(
          path,
          /^for \(const (key of SPEC_SCHEMA_KEYS|\[key, schema\] of Object\.entries\(authSchemas\)).*$/gm,
          '',
        ),
      ),
    }))
    // The tokenizer's table is data of 1 MB: it is read from a packed file of its own.
    onLoad({ filter: /gpt-tokenizer[\\/]esm[\\/]bpeRanks[\\/]cl100k_base\.js$/ }, () => ({
      contents: `import { readTokenTable } from ${JSON.stringify(resolve('src/kept-code.ts'))}; export default await readTokenTable()`,
    }))
    // commander starts commands that are programs of their own; Gazeway has none.
    onLoad({ filter: /node_modules[\\/]commander[\\/]lib[\\/]command\.js$/ }, ({ path }) => ({
      contents: replaced(path, /^const childProcess = require\('node:child_process'\);$/m, 'const childProcess = null'),
    }))
    onLoad({ filter: /@modelcontextprotocol[\\/]core[\\/]dist[\\/](schemas|auth)-[\w-]+\.mjs$/ }, ({ path }) => ({
      contents: replaced(
        path,
        /^const (\w+) = ([^;]*?\([\s\S]*?);\n(?![ \t})\]])/gm,
        'const $1 = /* @__PURE__ */ (() => $2)();\n',
      ),
    }))
  },
}

/**
 * A file's text with a change.
 *
 * @throws Error where nothing is found to change: another version of the package has it otherwise
 */
function replaced(path: string, found: RegExp, by: string): string {
  const text = readFileSync(path, 'utf8')
  const changed = text.replace(found, by)
  if (changed === text) throw new Error(`${path} no longer holds ${found}; see what this version has in its place.`)
  return changed
}

const { version, engines, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

/** esbuild's options for the command: a chunk for each part that is loaded on first use. */
export const bundle = {
  entryPoints: { cli: 'adapters/command/cli.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  external: Object.keys(dependencies),
  // Its main file is in a form (UMD) whose own imports cannot be bundled.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  plugins: [slim],
  define: {
    GAZEWAY_PACKAGE: JSON.stringify(JSON.stringify({ version, node: engines.node })),
    GAZEWAY_SETTINGS: JSON.stringify(JSON.stringify({ keys: CONFIG_KEYS, defaults: DEFAULTS })),
    GAZEWAY_SKILLS: JSON.stringify(JSON.stringify(await describeSkills())),
    GAZEWAY_CATALOG: JSON.stringify(JSON.stringify(describeTools())),
  },
  // Bundled CommonJS modules ask for Node's own modules with require.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  logLevel: 'warning',
  metafile: true,
} satisfies BuildOptions
