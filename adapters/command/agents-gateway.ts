import { isBaseUrl } from '../../src/config/addresses.ts'
import type { Environment } from '../../src/config/environment.ts'

/** Gateway that the agent around a hook uses, and the key that its calls have. */
export interface AgentsGateway {
  /** Base URL without a slash at its end. */
  url: string
  key: string
}

/** Anthropic's own hosts, which are no gateway. */
const ANTHROPIC = /(?:^|\.)(?:anthropic\.com|claude\.(?:ai|com))$/i

/**
 * Finds the gateway in the environment that Claude Code gives to its hooks: `ANTHROPIC_BASE_URL`, with the key of
 * `x-gazeway-key` in `ANTHROPIC_CUSTOM_HEADERS`, of `ANTHROPIC_AUTH_TOKEN` or of `ANTHROPIC_API_KEY`. It has to be the
 * key of the session's calls, since a session belongs to its key.
 *
 * @returns null without one
 */
export function agentsGateway(env: Environment): AgentsGateway | null {
  const url = env.ANTHROPIC_BASE_URL?.trim()
  if (!url || !isBaseUrl(url) || ANTHROPIC.test(new URL(url).hostname)) return null
  const [, header] = /^x-gazeway-key:[ \t]*(\S+)[ \t]*$/im.exec(env.ANTHROPIC_CUSTOM_HEADERS ?? '') ?? []
  const key = header ?? (env.ANTHROPIC_AUTH_TOKEN?.trim() || env.ANTHROPIC_API_KEY?.trim())
  return key ? { url: url.replace(/\/+$/, ''), key } : null
}
