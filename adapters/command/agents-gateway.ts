import { connectionFiles, readConnection, readKey } from '../../src/coding-agents/connection.ts'
import { isBaseUrl } from '../../src/config/addresses.ts'
import type { Environment } from '../../src/config/environment.ts'
import type { HookedAgent } from './hooked-agents.ts'

/** Gateway that the agent around a hook uses, and the key that its calls have. */
export interface AgentsGateway {
  /** Base URL without a slash at its end. */
  url: string
  key: string
}

/** Anthropic's own hosts, which are no gateway. */
const ANTHROPIC = /(?:^|\.)(?:anthropic\.com|claude\.(?:ai|com))$/i

/**
 * Finds the gateway of an agent, and the key of its calls, since a session belongs to its key.
 *
 * - Claude Code gives its hooks `ANTHROPIC_BASE_URL`. The key is that of `x-gazeway-key` in `ANTHROPIC_CUSTOM_HEADERS`, of
 *   `ANTHROPIC_AUTH_TOKEN` or of `ANTHROPIC_API_KEY`, else the one that `gazeway connect` has kept for this URL.
 * - Codex gives nothing: both are those of `gazeway connect`.
 *
 * @param projects folders that may have a connection of their own
 * @returns null without one
 * @throws GazewayError `config_invalid` for a damaged record of a connection
 */
export function agentsGateway(
  agent: HookedAgent,
  { env, dataDir, projects }: { env: Environment; dataDir: string; projects: readonly string[] },
): AgentsGateway | null {
  const connections = [...projects, null].flatMap((project) => {
    const files = connectionFiles(dataDir, agent, project)
    const [connection, key] = [readConnection(files), readKey(files)]
    return connection === null || !key ? [] : [{ url: trimmed(connection.url), key }]
  })
  if (agent === 'codex') return connections[0] ?? null
  const url = trimmed(env.ANTHROPIC_BASE_URL ?? '')
  if (!isBaseUrl(url) || ANTHROPIC.test(new URL(url).hostname)) return null
  const [, header] = /^x-gazeway-key:[ \t]*(\S+)[ \t]*$/im.exec(env.ANTHROPIC_CUSTOM_HEADERS ?? '') ?? []
  const key = header ?? (env.ANTHROPIC_AUTH_TOKEN?.trim() || env.ANTHROPIC_API_KEY?.trim())
  return key ? { url, key } : (connections.find((connection) => connection.url === url) ?? null)
}

const trimmed = (url: string): string => url.trim().replace(/\/+$/, '')
