import { GazewayError } from '../../errors.ts'
import { keyIdOf } from '../../identity/key-token.ts'
import type { ClientPaid } from '../../providers/prices.ts'
import { presetAt } from '../../providers/providers.ts'
import type { Provider } from './provider.ts'

/** Credential of a client for the provider itself, which is used for its call in place of ours. Never stored or logged. */
export interface OwnKey {
  /** An API key, or the token of a person's plan. */
  kind: ClientPaid
  /** The secret alone. */
  secret: string
  /** Headers with which the client of a plan proves it. Empty for an API key. */
  headers: Readonly<Record<string, string>>
}

/**
 * Words in the names of headers that name an account of ours, or prove it: `openai-organization`, `x-goog-user-project`,
 * `cf-aig-authorization`, `x-portkey-api-key` …
 */
const OF_OUR_ACCOUNT =
  /auth|key|token|secret|password|credential|signature|cookie|organi[sz]ation|project|account|workspace|tenant/

/** Endpoints that take a person's plan, by the known provider whose API they are. */
const NATIVE: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['/messages', '/messages/count_tokens'],
  openai: ['/responses', '/responses/compact', '/chat/completions'],
}

/** The provider as a client with its own credential calls it: at the same address, with nothing of our account. */
export function withOwnKey(provider: Provider, { kind, secret, headers }: OwnKey): Provider {
  const ours = Object.entries(provider.headers).filter(([name]) => !OF_OUR_ACCOUNT.test(name))
  return {
    ...provider,
    apiKey: kind === 'own_key' ? secret : null,
    keyId: null,
    paidBy: kind,
    headers: { ...Object.fromEntries(ours), ...headers },
    secrets: [secret, ...provider.secrets].sort((a, b) => b.length - a.length),
  }
}

/**
 * Requires that an upstream takes the credential of a client for an endpoint.
 *
 * @throws GazewayError `own_key_refused`
 */
export function requireOwnKey(
  provider: Provider,
  { kind, secret }: OwnKey,
  { endpoint, isConverted }: { endpoint: string; isConverted: boolean },
): void {
  const { label, section, vendor, baseUrl, takesOwnKeys, takesOwnPlans } = provider
  if (keyIdOf(secret) !== null && presetAt(baseUrl) !== undefined)
    throw refused(
      'The credential for the provider is a key of a gateway, which no provider may learn. Send that of the provider.',
      kind === 'own_key' ? 'x-provider-key' : 'authorization',
    )
  if (kind === 'own_key') {
    if (takesOwnKeys) return
    throw refused(
      `The upstream ${label} takes no keys of clients. Omit x-provider-key, or ask the operator to set ${section}.own_keys to allow.`,
      'x-provider-key',
    )
  }
  if (!takesOwnPlans)
    throw refused(
      `The upstream ${label} takes no plans of persons, so Authorization was not passed on. Omit it beside x-gazeway-key, or ask the operator to set ${section}.passthrough_credentials.`,
      'authorization',
    )
  if (!isConverted && vendor !== null && NATIVE[vendor]?.includes(endpoint)) return
  throw refused(
    `A person's plan is used for its provider's own API alone, and /v1${endpoint} is not that of the upstream ${label}.`,
    'authorization',
  )
}

const refused = (message: string, param: string): GazewayError =>
  new GazewayError('own_key_refused', `${message} No request was made.`, { param })
