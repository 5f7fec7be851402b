import * as z from 'zod'
import { CostOrigin } from '../providers/prices.ts'
import { Usage } from '../providers/token-usage.ts'
import { CallCache } from './call-cache.ts'
import { CallSession } from './call-session.ts'
import { CALL_STATUS_NAMES } from './call-status.ts'
import { CallTiming } from './call-timing.ts'

/** Surface on which a call arrived. */
export const Surface = z.enum(['stdio', 'http', 'platform', 'socket'])
export type Surface = z.infer<typeof Surface>

/** Outcome of a call. */
export const CallStatus = z.enum(CALL_STATUS_NAMES)
export type CallStatus = z.infer<typeof CallStatus>

/** A candidate that a call passed over, and why. */
export const SkippedCandidate = z.object({
  upstream: z.string(),
  reason: z.enum(['circuit_open', 'keys_resting']),
})
export type SkippedCandidate = z.infer<typeof SkippedCandidate>

/** Audit trail entry of one call to the upstream: counts and outcome, not content. */
export const CallRecord = z.object({
  call_id: z.string(),
  at: z.string().describe('When the call began, RFC 3339 UTC'),
  surface: Surface,
  caller_id: z.string().nullable(),
  address: z.string().nullable().describe('Address of the client'),
  path: z.string().describe('Path below the base URL of the upstream, as `/v1/…`'),
  requested_model: z.string().nullable(),
  model: z.string().nullable().describe('Model requested from the upstream'),
  upstream: z.string(),
  stream: z.boolean(),
  status: CallStatus,
  http_status: z.number().int().nullable(),
  fallback_from: z.string().nullable().describe('The failed or slow call that led to this one'),
  skipped: z.array(SkippedCandidate).describe('Candidates passed over since the attempt before'),
  latency_ms: z.number().int(),
  first_token_ms: z.number().int().nullable(),
  timing: CallTiming.optional(),
  usage: Usage.nullable(),
  upstream_cost_usd: z.number().nullable().describe('null: unknown, for a hedged call'),
  cache: CallCache.optional(),
  price_from: CostOrigin.nullable().describe(
    'Origin of the cost. stated: by the provider; flat, dearest: the model has no price; own_key, own_plan: the client paid; null: unknown usage',
  ),
  provider_key: z.string().nullable().describe("The provider's id of its key (key_id); null: unknown"),
  ...CallSession.shape,
  tags: z.array(z.string()).optional().describe('As the header x-gazeway-tags says; not in lists'),
  error: z.string().nullable(),
  changed: z.array(z.string()).optional().describe('Changes of the request for the upstream, as `top_k=dropped`'),
  content: z.unknown().optional().describe('Request and answer; only if audit.store_content is on'),
})
export type CallRecord = z.infer<typeof CallRecord>

/** Context of the request that a call serves. Adapters create one per request. */
export interface CallContext {
  surface: Surface
  /** Id of the key or wallet that pays. Null on stdio. */
  callerId: string | null
  /** Address of the client, over HTTP and on the socket. */
  address?: string | null | undefined
  /** Session that the call belongs to, as its client says. */
  session?: CallSession | undefined
  /** Tags of the request, at most ten. */
  tags?: readonly string[] | undefined
  /** Turn and folder as the client says, in JSON: `x-codex-turn-metadata` of Codex. */
  turnMetadata?: string | undefined
  /** True when the caller of this function charges for the call itself. */
  isPaid?: boolean | undefined
  /** True for a call with settings that are not in force: it tells nothing of the health of an upstream. */
  isTrial?: boolean | undefined
  /** Aborted when the client cancels or disconnects. When the service ends the call, the reason is an error. */
  signal?: AbortSignal | undefined
  /** W3C trace context of the request, as received. */
  traceparent?: string | undefined
  /** Gateways and proxies that the request passed through: its `Via` header. */
  via?: string | undefined
  /** Called with each text delta. When set, the model is asked to stream. */
  onText?: ((delta: string) => void) | undefined
  /** Called with other activity of a streaming model, such as searching or thinking. */
  onStep?: ((what: string) => void) | undefined
}
