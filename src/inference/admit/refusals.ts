import { LRUCache } from 'lru-cache'
import type { CallRecord, Surface } from '../../calls/call-record.ts'
import { type CallSession, NO_SESSION } from '../../calls/call-session.ts'
import type { Calls } from '../../calls/calls.ts'
import type { GazewayError } from '../../errors.ts'
import { newId } from '../../text/ids.ts'

/** Records of refusals per caller and minute. All without a known key count as one caller. */
const RECORDS = 60
const MINUTE_MS = 60_000
/** Maximum number of callers whose records are counted at the same time. */
const CALLERS = 10_000

/** A call refused before any upstream was called. */
export interface Refusal {
  surface: Surface
  /** Id of the key. Null without a valid one. */
  callerId: string | null
  /** Address of the client; null when there is none. */
  address: string | null
  /** As its client says; none by default. */
  session?: CallSession | undefined
  tags?: readonly string[] | undefined
  /** Route, not URL: each is a row of the statistics, so there must be few. */
  path: string
  /** Service that was not called, if not the model provider. */
  upstream?: string | undefined
  /** Model that was asked for, as far as known. A function is called only for a refusal that gets a record. */
  requestedModel: string | null | (() => Promise<string | null>)
  error: GazewayError
}

/** Records refused calls in the audit trail. @returns a promise only when the requested model has to be read */
export type NoteRefusal = (refusal: Refusal) => void | Promise<void>

/**
 * Creates the recording of refusals: up to 60 records per caller and minute, and counts beyond that, so that a flood
 * does not fill the store.
 *
 * @param upstream gives the name of the provider that calls currently go to
 */
export function createRefusals({
  calls,
  upstream,
  now,
}: {
  calls: Pick<Calls, 'record' | 'count'>
  upstream: () => string
  now: () => Date
}): NoteRefusal {
  const recorded = new LRUCache<string, { minute: number; records: number }>({ max: CALLERS })

  function hasRecordLeft(callerId: string | null, at: Date): boolean {
    const minute = Math.floor(at.getTime() / MINUTE_MS)
    const before = recorded.get(callerId ?? '')
    const records = before?.minute === minute ? before.records : 0
    if (records >= RECORDS) return false
    recorded.set(callerId ?? '', { minute, records: records + 1 })
    return true
  }

  return ({ surface, callerId, address, session = NO_SESSION, tags, path, upstream: other, requestedModel, error }) => {
    error.isNoted = true
    const at = now()
    const recordOf = (requested_model: string | null): CallRecord => ({
      call_id: newId('call'),
      at: at.toISOString(),
      surface,
      caller_id: callerId,
      address,
      path,
      requested_model,
      model: null,
      upstream: other ?? upstream(),
      stream: false,
      status: 'refused',
      http_status: error.status,
      fallback_from: null,
      skipped: [],
      latency_ms: 0,
      first_token_ms: null,
      usage: null,
      upstream_cost_usd: 0,
      price_from: null,
      provider_key: null,
      ...session,
      ...(tags !== undefined && { tags: [...tags] }),
      error: `${error.code}: ${error.message}`,
    })
    if (!hasRecordLeft(callerId, at)) return calls.count(recordOf(null))
    if (typeof requestedModel !== 'function') return calls.record(recordOf(requestedModel))
    return requestedModel().then((model) => calls.record(recordOf(model)))
  }
}
