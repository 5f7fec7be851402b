import type { CallRecord } from '../../src/calls/call-record.ts'
import { CALL_STATUS_NAMES, CALL_STATUSES, type CallStatus } from '../../src/calls/call-status.ts'
import { namesOfKeys } from '../../src/identity/keys.ts'
import type { Store } from '../../src/store/store.ts'
import { cached } from './cached.ts'
import { type CallLabels, OTHER } from './call-labels.ts'
import type { Meters } from './meters.ts'

/** Keys with series of their own: the first ones that call. Wallets have none: anybody can pay from any number of them. */
const LABELLED = 200
/** Label of calls without a key: of the tools of this machine. */
const NONE = 'none'

/** Calls and cost of one key at one upstream since the last scrape. */
interface Pending {
  upstream: string
  calls: Record<CallStatus, number>
  seconds: number
  usd: number
}

/**
 * Creates the counts of calls by key. Records name keys by id, so the names are read when a scrape counts what has come
 * since the one before. While the store does not answer, it waits for the next.
 *
 * @returns counts a call by its record, once, when it has ended
 */
export function keyMetrics(meters: Meters, labels: CallLabels, store: Pick<Store, 'db'>): (record: CallRecord) => void {
  const known = new Set<string>()
  const ofCaller = new Map<string, (upstream: string) => Pending>()
  const pending: { caller: string; of: Pending }[] = []
  let flushing: Promise<void> | null = null
  const flush = (): Promise<void> => {
    flushing ??= count().finally(() => {
      flushing = null
    })
    return flushing
  }
  const calls = meters.flushed('gazeway_key_calls_total', flush)
  const seconds = meters.flushed('gazeway_key_call_seconds_total', flush)
  const cost = meters.flushed('gazeway_key_cost_usd_total', flush)

  async function count(): Promise<void> {
    const names = await namesOfKeys(store.db, [...known]).catch(() => null)
    if (names === null) return
    for (const { caller, of } of pending) {
      const key = caller === NONE ? NONE : (names.get(caller) ?? OTHER)
      const { upstream } = of
      for (const outcome of CALL_STATUS_NAMES)
        if (of.calls[outcome] > 0) calls.inc({ key, upstream, outcome }, of.calls[outcome])
      seconds.inc({ key, upstream }, of.seconds)
      cost.inc({ key, upstream }, of.usd)
      Object.assign(of, nothing())
    }
  }

  const isLabelled = (caller: string): boolean => caller === NONE || (known.size < LABELLED && !caller.startsWith('0x'))

  function made(caller: string): (upstream: string) => Pending {
    if (caller !== NONE && caller !== OTHER) known.add(caller)
    const own = cached((upstream: string) => {
      const of = { upstream, ...nothing() }
      pending.push({ caller, of })
      return of
    })
    ofCaller.set(caller, own)
    return own
  }

  return (record) => {
    if (CALL_STATUSES[record.status].counts === 'refusal') return
    const caller = record.caller_id ?? NONE
    const own = ofCaller.get(caller) ?? (isLabelled(caller) ? made(caller) : (ofCaller.get(OTHER) ?? made(OTHER)))
    const of = own(labels.ofUpstream(record.upstream).upstream)
    of.calls[record.status] += 1
    of.seconds += record.latency_ms / 1000
    of.usd += record.upstream_cost_usd ?? 0
  }
}

const nothing = () => ({
  calls: Object.fromEntries(CALL_STATUS_NAMES.map((status) => [status, 0])) as Record<CallStatus, number>,
  seconds: 0,
  usd: 0,
})
