import type { Provider } from './provider.ts'

/** Version of Anthropic's API used when a client sends none (https://docs.claude.com/en/api/versioning). */
const ANTHROPIC_VERSION = '2023-06-01'

/** Authentication headers for an upstream's API. A cloud's signer replaces them with its own. */
export function keyHeaders({
  protocol,
  apiKey,
  cloud,
}: Pick<Provider, 'protocol' | 'apiKey' | 'cloud'>): Record<string, string> {
  if (protocol === 'anthropic' && cloud === null)
    return { 'anthropic-version': ANTHROPIC_VERSION, ...(apiKey === null ? {} : { 'x-api-key': apiKey }) }
  return apiKey ? { authorization: `Bearer ${apiKey}` } : {}
}
