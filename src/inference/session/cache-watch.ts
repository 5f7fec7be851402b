import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { ChangedPart } from '../../calls/call-cache.ts'
import type { CallContext } from '../../calls/call-record.ts'
import type { Usage } from '../../providers/token-usage.ts'
import type { ModelBody } from '../admit/admit.ts'
import type { ClientRequest } from '../relay/request-body.ts'
import { affinityOf } from './affinity.ts'
import { changedPart, type PromptStart, startOf } from './prompt-start.ts'

/** Conversations watched at a time; the least recent is forgotten. */
const CONVERSATIONS = 1000
/** Bytes of a request that have one checksum. */
const BLOCK_BYTES = 4096
/** Checksums kept of a request: of its first 2 MiB. */
const MOST_BLOCKS = 512
/** Smallest number of tokens that are missed at once. Providers cache no prompts that are much shorter. */
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
  /** Part at the beginning of the prompt that the client changed. Null for none. */
  changed: ChangedPart | null
  /** Byte of the client's request, to 4 KiB, from which it differs from the one before. Null for none that was compared. */
  differs_at: number | null
  /** Length of the request before, in bytes. */
  of_bytes: number
}

/** A call that has ended, as far as its cache is concerned. */
export interface WatchedCall {
  context: Pick<CallContext, 'callerId' | 'session'>
  /** The client's request. */
  request: Pick<ClientRequest<ModelBody>, 'bytes' | 'json'>
  callId: string
  upstream: string
  model: string
  usage: Usage | null
}

/** Prompt tokens of a call that the provider had in its cache after the call before, and no longer. */
export interface CacheLoss {
  tokens: number
  changed: ChangedPart | null
}

interface Before {
  sums: Uint32Array
  bytes: number
  /** Null for a prompt that is too short for a provider's cache. */
  start: PromptStart | null
  prompt: number
  /** Tokens that are in the provider's cache since: read from it, or written. */
  known: number
  at: number
}

/** Notes a call of a session. Null where nothing that was in the cache is known to be missed. */
export type CacheWatch = (call: WatchedCall) => CacheLoss | null

/**
 * Creates the watch over the prompt caches of sessions. It keeps checksums of the newest request of each conversation, and
 * no text.
 *
 * Prompts of less than half of what is in the cache are those of other work in the session, such as titles: they are not
 * compared.
 *
 * @param onMiss told where at least half of what the call before had in the cache is no longer found within five minutes;
 *   and where nothing is found after the client has changed the beginning of its prompt
 */
export function createCacheWatch(
  onMiss: (miss: CacheMiss) => void,
  now: () => number = () => performance.now(),
): CacheWatch {
  const conversations = new LRUCache<string, Before>({ max: CONVERSATIONS })

  return ({ context, request, callId, upstream, model, usage }) => {
    const affinity = affinityOf(context)
    if (affinity === null || usage === null || usage.estimated === true) return null
    const { bytes, json } = request
    const { session_id = null, thread_id = null } = context.session ?? {}
    // Not as JSON: this runs with each call of a session.
    const conversation = `${affinity}\0${thread_id ?? ''}\0${upstream}\0${model}`
    const { prompt_tokens: prompt, cached_tokens: cached = 0, cache_write_tokens: written = 0 } = usage
    const before = conversations.get(conversation)
    const isCacheable = prompt >= LEAST_CACHED || cached + written > 0
    if (before === undefined && !isCacheable) return null
    const isRecent = before !== undefined && now() - before.at <= KEPT_MS
    if (isRecent && prompt * 2 < before.known) return null
    const start = prompt < LEAST_CACHED ? null : startOf(json)
    const sums = sumsOf(bytes)
    conversations.set(conversation, { sums, bytes: bytes.length, start, prompt, known: cached + written, at: now() })
    if (!isRecent) return null
    const expected = Math.min(before.known, prompt)
    const isDrop = expected >= LEAST_CACHED && cached * 2 <= expected
    // Some providers do not tell what they write.
    const isUnread = cached + before.known === 0 && Math.min(prompt, before.prompt) >= LEAST_CACHED
    const changed = isDrop || isUnread ? changedPart(before.start, start) : null
    if (isDrop || changed !== null)
      onMiss({
        ...{ call_id: callId, caller_id: context.callerId, session_id, upstream, model },
        ...{ cached_before: before.known, cached_now: cached, changed },
        differs_at: firstDifference(before.sums, sums),
        of_bytes: before.bytes,
      })
    const tokens = Math.max(0, expected - cached)
    return tokens === 0 && changed === null ? null : { tokens, changed }
  }
}

function sumsOf(bytes: Buffer): Uint32Array {
  const sums = new Uint32Array(Math.min(MOST_BLOCKS, Math.floor(bytes.length / BLOCK_BYTES)))
  for (let index = 0; index < sums.length; index++)
    sums[index] = crc32(bytes.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES))
  return sums
}

function firstDifference(before: Uint32Array, present: Uint32Array): number | null {
  const index = before.findIndex((sum, at) => sum !== present[at])
  return index < 0 ? null : index * BLOCK_BYTES
}
