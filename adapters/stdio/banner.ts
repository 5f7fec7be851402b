import { realpathSync } from 'node:fs'
import type { LoadedConfig } from '../../src/config/config.ts'
import { redactUrl } from '../../src/config/redact.ts'
import { VERSION } from '../../src/config/version.ts'
import { presetOf } from '../../src/providers/providers.ts'

/** Prints on stderr what the server is and how to use it, for a person who started it in a terminal. */
export function printBanner(loaded: LoadedConfig): void {
  const { dataDir, config } = loaded
  const { provider, api_key } = config.upstream
  const variable = presetOf(provider)?.key?.variable
  const hint = variable && !api_key ? ` (no API key: set ${variable}, or try --upstream sandbox)` : ''
  process.stderr.write(`gazeway ${VERSION}: MCP tool server, running on stdin and stdout. Usually a coding assistant starts it.

  data      ${dataDir}
  upstream  ${provider}${hint}

Paste this into your assistant's MCP configuration:

  ${JSON.stringify({ mcpServers: { gazeway: entry(loaded) } })}

Run gazeway doctor to check the setup, and gazeway --help for all commands. Press Ctrl+C to stop.
`)
}

/** Builds an entry that starts the same server. It works from another folder and without this terminal's variables. */
function entry({ dataDir, storeUrl, config, sources, request }: LoadedConfig) {
  const isGiven = (key: string) => sources[key] === 'flag' || sources[key] === 'environment'
  const { provider } = config.upstream
  const args = [realpathSync(process.argv[1] ?? '')]
  if (request.flags.data || request.env.GAZEWAY_HOME?.trim()) args.push('--data', dataDir)
  if (isGiven('store.url')) args.push('--store', redactUrl(storeUrl))
  if (isGiven('upstream.provider')) args.push('--upstream', provider)
  const ownKey = sources['upstream.api_key'] === 'environment' ? 'GAZEWAY_UPSTREAM_API_KEY' : null
  const variable = presetOf(provider)?.key?.variable ?? ownKey
  return { command: process.execPath, args, ...(variable ? { env: { [variable]: '…' } } : {}) }
}
