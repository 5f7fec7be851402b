import type { Provider } from './provider.ts'

/** The version of Anthropic's API that is spoken where a client names none (https://docs.claude.com/en/api/versioning). */
const ANTHROPIC_VERSION = '2023-06-01'

/** What opens an upstream, as its API wants it. */
export function keyHeaders({ protocol, apiKey }: Pick<Provider, 'protocol' | 'apiKey'>): Record<string, string> {
  if (protocol === 'anthropic')
    return { 'anthropic-version': ANTHROPIC_VERSION, ...(apiKey === null ? {} : { 'x-api-key': apiKey }) }
  return apiKey ? { authorization: `Bearer ${apiKey}` } : {}
}
