import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { newId } from '../../src/text/ids.ts'
import type { RunningPlatform } from '../adapters/platform.ts'

const HOUR_MS = 3_600_000

/** Two days of calls of two keys and of tools on this machine, some failed, some fallen back; the last a minute ago. */
export async function seedCalls({ gateway, keyId }: RunningPlatform): Promise<CallRecord[]> {
  const { record: other } = await gateway.keys.create({ name: 'research bot', scopes: ['inference'] })
  const end = Date.now() - 60_000
  const records = Array.from({ length: 240 }, (_, i): CallRecord => {
    const isResearch = i % 4 === 0
    const failed = i % 24 === 5
    const tokens = 400 + ((i * 137) % 1900)
    return {
      call_id: newId('call'),
      at: new Date(end - (i * HOUR_MS) / 5).toISOString(),
      surface: 'http',
      address: null,
      caller_id: [keyId, other.id, other.id, null][i % 4] ?? null,
      path: isResearch ? '/v1/responses' : '/v1/chat/completions',
      requested_model: isResearch ? 'llm-4.20-multi-agent-beta-0309' : 'llm-3-fast',
      model: isResearch ? 'llm-4.20-multi-agent-beta-0309' : 'llm-3-fast',
      upstream: 'sandbox',
      stream: i % 3 === 0,
      status: failed ? 'error' : 'ok',
      http_status: failed ? ([429, 401, 503, null][Math.floor(i / 24) % 4] ?? null) : 200,
      fallback_from: i % 40 === 1 ? newId('call') : null,
      skipped: [],
      latency_ms: 220 + ((i * 211) % 1700),
      first_token_ms: 90,
      usage: failed ? null : { prompt_tokens: tokens - 120, completion_tokens: 120, total_tokens: tokens },
      upstream_cost_usd: failed ? 0 : (tokens * 3) / 1_000_000,
      price_from: null,
      provider_key: null,
      ...NO_SESSION,
      error: failed ? 'The upstream sandbox did not do what it was asked.' : null,
    }
  })
  for (const record of records) gateway.calls.record(record)
  await gateway.calls.flush()
  return records
}
