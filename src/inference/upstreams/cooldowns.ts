import { retryAfterMs } from '../api/retry-after.ts'
import type { WholeReply } from '../relay/exchange.ts'
import type { Circuit } from './circuits.ts'

/** Cooldown of a rejected key, and of a rate-limited one without `Retry-After`, in milliseconds. */
const REJECTED_MS = 60_000
const LIMITED_MS = 1000
/** Longest accepted `Retry-After`. */
const LONGEST_MS = 600_000

/** Cooldowns kept per upstream, since clients can name any model. The oldest is dropped. */
const MAX_COOLDOWNS = 1000

/** Cooldown of a key: for a model that it is limited for, or for all when it is rejected. */
export interface Cooldown {
  of: 'model' | 'key'
  forMs: number
}

/** Cooldown of a key after a refusal. Null for none. */
export function cooldownAfter(refused: Pick<WholeReply, 'status' | 'headers'> | null): Cooldown | null {
  if (refused?.status === 401) return { of: 'key', forMs: REJECTED_MS }
  if (refused?.status !== 429) return null
  return { of: 'model', forMs: Math.min(retryAfterMs(refused.headers) ?? LIMITED_MS, LONGEST_MS) }
}

/** One of our keys that cools down after the upstream refused it. */
export interface CoolingKey {
  apiKey: string | null
  /** Model that the key is limited for. Null for all: the key itself is rejected. */
  model: string | null
  /** Milliseconds left. */
  leftMs: number
}

/** Cooldowns of the keys of one upstream. */
export interface Cooldowns {
  /**
   * Time left for a key, in milliseconds; 0 when a request may use it.
   *
   * @param circuit null for a request that asks no model
   */
  leftMs(apiKey: string | null, circuit: Pick<Circuit, 'model' | 'callerId'> | null): number
  /**
   * Lets a key rest for a model. A second caller that meets the limit lets it rest for all callers: the first may have
   * asked for more than anybody else does.
   */
  limit(apiKey: string | null, circuit: Pick<Circuit, 'model' | 'callerId'>, forMs: number): void
  /** Lets a key rest for all models and callers. */
  reject(apiKey: string | null, forMs: number): void
  list(): CoolingKey[]
}

/** A cooldown that may have ended. */
interface Begun {
  apiKey: string | null
  model: string | null
  /** The only caller that it holds for; undefined for all. */
  callerId: string | null | undefined
  until: number
}

/** Creates the cooldowns of an upstream whose keys were never refused. */
export function createCooldowns(): Cooldowns {
  const cooldowns = new Map<string, Begun>()
  const keyOf = (apiKey: string | null, model: string | null): string => JSON.stringify([apiKey, model])

  /** Cooldown that has not ended. */
  function present(key: string): Begun | undefined {
    const found = cooldowns.get(key)
    if (found === undefined || found.until > performance.now()) return found
    cooldowns.delete(key)
    return undefined
  }

  function keep(cooldown: Begun): void {
    const key = keyOf(cooldown.apiKey, cooldown.model)
    const until = Math.max(present(key)?.until ?? 0, cooldown.until)
    cooldowns.delete(key)
    cooldowns.set(key, { ...cooldown, until })
    if (cooldowns.size > MAX_COOLDOWNS) cooldowns.delete(cooldowns.keys().next().value as string)
  }

  const until = (cooldown: Begun | undefined, callerId: string | null): number =>
    cooldown !== undefined && (cooldown.callerId === undefined || cooldown.callerId === callerId) ? cooldown.until : 0

  return {
    leftMs(apiKey, circuit) {
      if (cooldowns.size === 0) return 0
      const ofKey = present(keyOf(apiKey, null))?.until ?? 0
      const ofModel = circuit === null ? 0 : until(present(keyOf(apiKey, circuit.model)), circuit.callerId)
      return Math.max(0, Math.max(ofModel, ofKey) - performance.now())
    },
    limit(apiKey, { model, callerId }, forMs) {
      const before = present(keyOf(apiKey, model))
      const isShared = before !== undefined && before.callerId !== callerId
      keep({ apiKey, model, callerId: isShared ? undefined : callerId, until: performance.now() + forMs })
    },
    reject: (apiKey, forMs) => keep({ apiKey, model: null, callerId: undefined, until: performance.now() + forMs }),
    list() {
      const now = performance.now()
      return [...cooldowns.values()].flatMap(({ apiKey, model, until }) =>
        until > now ? [{ apiKey, model, leftMs: until - now }] : [],
      )
    },
  }
}
