import type { Provider } from './provider.ts'

/** Version of Anthropic's API used when a client sends none (https://docs.claude.com/en/api/versioning). */
const ANTHROPIC_VERSION = '2023-06-01'

/** Authentication headers for an upstream's API. */
export function keyHeaders({ protocol, apiKey }: Pick<Provider, 'protocol' | 'apiKey'>): Record<string, string> {
  if (protocol === 'anthropic')
    return { 'anthropic-version': ANTHROPIC_VERSION, ...(apiKey === null ? {} : { 'x-api-key': apiKey }) }
  return apiKey ? { authorization: `Bearer ${apiKey}` } : {}
}
