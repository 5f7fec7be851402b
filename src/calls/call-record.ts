import * as z from 'zod'
import { Usage } from '../providers/token-usage.ts'

/** Where a call came in. */
export const Surface = z.enum(['stdio', 'http', 'platform', 'socket'])
export type Surface = z.infer<typeof Surface>

/**
 * How a call ended: `aborted` means that the client went away or cancelled, `hedged` that another candidate was asked beside
 * it and answered first, `refused` that no upstream was asked because of the caller's key, money, permissions or limits.
 */
export const CallStatus = z.enum(['ok', 'error', 'aborted', 'hedged', 'refused'])
export type CallStatus = z.infer<typeof CallStatus>

/** The audit trail's entry for one upstream call. Counts and outcomes, not content. */
export const CallRecord = z.object({
  call_id: z.string(),
  at: z.string().describe('When the call began, RFC 3339 UTC'),
  surface: Surface,
  caller_id: z.string().nullable(),
  path: z.string().describe('Path on the upstream'),
  requested_model: z.string().nullable(),
  model: z.string().nullable().describe('The model that the upstream was asked for'),
  upstream: z.string(),
  stream: z.boolean(),
  status: CallStatus,
  http_status: z.number().int().nullable(),
  fallback_from: z.string().nullable().describe('The call whose failure, or silence, led to this one'),
  latency_ms: z.number().int(),
  first_token_ms: z.number().int().nullable(),
  usage: Usage.nullable(),
  upstream_cost_usd: z.number().nullable().describe('null: not known, of a call that was hedged'),
  error: z.string().nullable(),
  content: z.unknown().optional().describe('Request and answer; only where audit.store_content is set'),
})
export type CallRecord = z.infer<typeof CallRecord>

/** What every operation knows about the call it serves; adapters make one per request. */
export interface CallContext {
  surface: Surface
  /** Id of the key or wallet that pays; null on stdio. */
  callerId: string | null
  /** Whether the money of the call is dealt with by who makes it. */
  isPaid?: boolean | undefined
  /** Aborted when the client cancels or goes away; with an error as the reason when the service ends the call itself. */
  signal?: AbortSignal | undefined
  /** W3C trace context of the request, as its client sent it. */
  traceparent?: string | undefined
  /** Through which gateways and proxies the request has come: its `Via`. */
  via?: string | undefined
  /** Told of each piece of text while a model streams; its presence asks for streaming. */
  onText?: ((delta: string) => void) | undefined
  /** Told what a model that streams does besides: it searches, it thinks. */
  onStep?: ((what: string) => void) | undefined
}
