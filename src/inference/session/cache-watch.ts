import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { CallContext } from '../../calls/call-record.ts'
import type { Usage } from '../../providers/token-usage.ts'
import { affinityOf } from './affinity.ts'

/** Conversations watched at a time; the least recent is forgotten. */
const CONVERSATIONS = 1000
/** Bytes of a request that have one checksum. */
const BLOCK_BYTES = 4096
/** Checksums kept of a request: of its first 2 MiB. */
const MOST_BLOCKS = 512
/** Smallest number of cached tokens whose loss is logged. */
const LEAST_CACHED = 2000
/** Age, in milliseconds, from which providers forget a prompt. */
const KEPT_MS = 300_000

/** A call of a session that found less of its prompt in the provider's cache than the call before. */
export interface CacheMiss {
  call_id: string
  caller_id: string | null
  session_id: string | null
  upstream: string
  model: string
  cached_before: number
  cached_now: number
  /** Byte of the client's request, to 4 KiB, from which it differs from the one before. Null for none that was compared. */
  differs_at: number | null
  /** Length of the request before, in bytes. */
  of_bytes: number
}

/** A call that has ended, as far as its cache is concerned. */
export interface WatchedCall {
  context: Pick<CallContext, 'callerId' | 'session'>
  /** The client's request. */
  bytes: Buffer
  callId: string
  upstream: string
  model: string
  usage: Usage | null
}

interface Before {
  sums: Uint32Array
  bytes: number
  cached: number
  at: number
}

/** Notes the calls of sessions. */
export type CacheWatch = (call: WatchedCall) => void

/**
 * Creates the watch over the prompt caches of sessions. It keeps checksums of the newest request of each conversation, and
 * no text.
 *
 * @param onMiss told where at least half of what the call before had read is no longer found within five minutes
 */
export function createCacheWatch(
  onMiss: (miss: CacheMiss) => void,
  now: () => number = () => performance.now(),
): CacheWatch {
  const conversations = new LRUCache<string, Before>({ max: CONVERSATIONS })

  return ({ context, bytes, callId, upstream, model, usage }) => {
    const affinity = affinityOf(context)
    if (affinity === null || usage === null || usage.estimated === true) return
    const { session_id = null, thread_id = null } = context.session ?? {}
    const conversation = JSON.stringify([affinity, thread_id, upstream, model])
    const cached = usage.cached_tokens ?? 0
    const before = conversations.get(conversation)
    const present = { sums: sumsOf(bytes), bytes: bytes.length, cached, at: now() }
    conversations.set(conversation, present)
    if (before === undefined || present.at - before.at > KEPT_MS) return
    if (before.cached < LEAST_CACHED || cached * 2 > before.cached) return
    onMiss({
      ...{ call_id: callId, caller_id: context.callerId, session_id, upstream, model },
      ...{ cached_before: before.cached, cached_now: cached },
      differs_at: firstDifference(before.sums, present.sums),
      of_bytes: before.bytes,
    })
  }
}

function sumsOf(bytes: Buffer): Uint32Array {
  const sums = new Uint32Array(Math.min(MOST_BLOCKS, Math.floor(bytes.length / BLOCK_BYTES)))
  for (const index of sums.keys()) sums[index] = crc32(bytes.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES))
  return sums
}

function firstDifference(before: Uint32Array, present: Uint32Array): number | null {
  const index = before.findIndex((sum, at) => sum !== present[at])
  return index < 0 ? null : index * BLOCK_BYTES
}
