import type { Circuit } from './circuits.ts'

/** Cooldowns kept per upstream, since clients can name any model. The oldest is dropped. */
const MAX_COOLDOWNS = 1000

/** Cooldown of one of our keys after the upstream refused it. */
export interface Rest {
  apiKey: string | null
  /** Model that the key is limited for. Null for all: the key itself is rejected. */
  model: string | null
  /** Milliseconds left. */
  leftMs: number
}

/** Cooldowns of the keys of one upstream. */
export interface Rests {
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
  list(): Rest[]
}

/** A cooldown that may have ended. */
interface Cooldown {
  apiKey: string | null
  model: string | null
  /** The only caller that it holds for; undefined for all. */
  callerId: string | null | undefined
  until: number
}

/** Creates the cooldowns of an upstream whose keys were never refused. */
export function createRests(): Rests {
  const cooldowns = new Map<string, Cooldown>()
  const keyOf = (apiKey: string | null, model: string | null): string => JSON.stringify([apiKey, model])

  /** Cooldown that has not ended. */
  function present(key: string): Cooldown | undefined {
    const found = cooldowns.get(key)
    if (found === undefined || found.until > performance.now()) return found
    cooldowns.delete(key)
    return undefined
  }

  function keep(cooldown: Cooldown): void {
    const key = keyOf(cooldown.apiKey, cooldown.model)
    const until = Math.max(present(key)?.until ?? 0, cooldown.until)
    cooldowns.delete(key)
    cooldowns.set(key, { ...cooldown, until })
    if (cooldowns.size > MAX_COOLDOWNS) cooldowns.delete(cooldowns.keys().next().value as string)
  }

  const until = (cooldown: Cooldown | undefined, callerId: string | null): number =>
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
