import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'

/** Record of a call that receipts name, without its id and time. */
export const CALL: Omit<CallRecord, 'call_id' | 'at'> = {
  surface: 'http',
  address: null,
  caller_id: 'a',
  path: '/v1/messages',
  requested_model: 'x',
  model: 'x',
  upstream: 'test',
  stream: false,
  status: 'ok',
  http_status: 200,
  fallback_from: null,
  price_from: null,
  provider_key: null,
  ...NO_SESSION,
  skipped: [],
  latency_ms: 5,
  first_token_ms: null,
  usage: null,
  upstream_cost_usd: 0,
  error: null,
}
