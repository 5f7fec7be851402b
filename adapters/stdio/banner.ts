import type { LoadedConfig } from '../../src/config/config.ts'
import { VERSION } from '../../src/version.ts'

/** Tells a person who started the server in a terminal what it is and what to do with it, on stderr. */
export function printBanner({ dataDir, config }: LoadedConfig): void {
  const { provider, api_key } = config.upstream
  const keyless = ['sandbox', 'ollama'].includes(provider) || api_key !== null
  process.stderr.write(`gazeway ${VERSION}: an MCP tool server. It speaks JSON-RPC on stdin and stdout, so it is started by a coding assistant.

  data      ${dataDir}
  upstream  ${provider}${keyless ? '' : ' (no key set: model tools will say so; add "--upstream", "sandbox" to try without one)'}

Paste this into your assistant's MCP configuration:

  { "mcpServers": { "gazeway": { "command": "npx", "args": ["-y", "gazeway"] } } }

gazeway --help shows everything else. Press Ctrl+C to stop.
`)
}
