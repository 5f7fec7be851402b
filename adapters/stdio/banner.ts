import type { LoadedConfig } from '../../src/config/config.ts'
import type { ConfigFlags } from '../../src/config/environment.ts'
import { PRESETS } from '../../src/upstream/presets.ts'
import { VERSION } from '../../src/version.ts'

/**
 * Tells a person who started the server in a terminal what it is and what to do with it, on stderr.
 *
 * @param flags as they were given, so that the entry to paste starts the same server
 */
export function printBanner({ dataDir, config }: LoadedConfig, flags: ConfigFlags): void {
  const { provider, api_key } = config.upstream
  const variable = PRESETS[provider]?.keyVariable
  const hint =
    variable && !api_key ? ` (no key: set ${variable}, or add --upstream sandbox to try everything without)` : ''
  process.stderr.write(`gazeway ${VERSION}: an MCP tool server. It speaks JSON-RPC on stdin and stdout, so it is started by a coding assistant.

  data      ${dataDir}
  upstream  ${provider}${hint}

Paste this into your assistant's MCP configuration:

  ${JSON.stringify({ mcpServers: { gazeway: entry(dataDir, provider, flags) } })}

gazeway doctor checks the set-up, gazeway --help shows everything else. Press Ctrl+C to stop.
`)
}

function entry(dataDir: string, provider: string, { data, store, upstream }: ConfigFlags) {
  const args = ['-y', 'gazeway']
  // Absolute: the assistant starts it in another folder.
  if (data) args.push('--data', dataDir)
  if (store) args.push('--store', store)
  if (upstream) args.push('--upstream', upstream)
  const variable = PRESETS[provider]?.keyVariable
  return { command: 'npx', args, ...(variable ? { env: { [variable]: '…' } } : {}) }
}
