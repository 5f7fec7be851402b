import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { Config } from '../../src/config/config-schema.ts'
import type { Environment } from '../../src/config/environment.ts'
import { withUpstreamKeys } from '../../src/config/upstream-keys.ts'
import { GazewayError } from '../../src/errors.ts'
import type { Store } from '../../src/store/store.ts'

/** A call of the trail, with what matters here. */
export function callAt(
  at: string,
  upstream: string,
  model: string,
  usd: number,
  more: Partial<CallRecord> = {},
): CallRecord {
  return {
    call_id: `call_${++made}`,
    at,
    surface: 'http',
    caller_id: 'key_ann',
    address: null,
    path: '/v1/chat/completions',
    requested_model: model,
    model,
    upstream,
    stream: false,
    status: 'ok',
    http_status: 200,
    fallback_from: null,
    skipped: [],
    latency_ms: 10,
    first_token_ms: null,
    usage: { prompt_tokens: 900, completion_tokens: 100, total_tokens: 1000 },
    upstream_cost_usd: usd,
    price_from: 'catalogue',
    provider_key: null,
    ...NO_SESSION,
    error: null,
    ...more,
  }
}

let made = 0

/** Writes calls to the trail, as the gateway does. */
export async function record(store: Store, records: readonly CallRecord[]): Promise<void> {
  const calls = createCalls({
    store,
    onError: (error) => {
      throw error
    },
  })
  for (const one of records) calls.record(one)
  await calls.flush()
}

/** The configuration of some upstreams, with the keys of an environment. */
export const configWith = (upstreams: unknown, env: Environment = {}): Config =>
  withUpstreamKeys(Config.parse({ upstream: { provider: 'sandbox' }, upstreams }), env, undefined).config

/** Validates an error by its code and message, for `assert.rejects`. */
export const refuses = (code: string, message: RegExp) => (error: unknown) =>
  error instanceof GazewayError && error.code === code && message.test(error.message)
