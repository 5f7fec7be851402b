import { LRUCache } from 'lru-cache'
import { isLimitFact } from './limit-facts.ts'

/** Time for which a fact holds after it was met, in milliseconds: upstreams change. */
export const FACT_MS = 60 * 60 * 1000
/** Most models of which facts are kept: clients may send any number of invented names. */
const REMEMBERED = 1000

/** A mend that a model of an upstream needs, as one key has met it. */
export interface Fact {
  /** Name of the upstream in records. */
  upstream: string
  /** Model id there. Empty for its default. */
  model: string
  /** Name of the mend. */
  name: string
  /** Key that met it. Empty for the tools of this machine. */
  keyId: string
  /** Time at which the mended request succeeded, in milliseconds since 1970. */
  metAt: number
}

/**
 * Facts about the models of upstreams. One holds for the key that met it; for all keys once a second one has, but for
 * limits.
 */
export interface Facts {
  /**
   * Names of the mends that a request of a key needs.
   *
   * @param upstream its name in records
   * @param model id at the upstream. Empty for its default
   */
  of(upstream: string, model: string, keyId: string | null): readonly string[]
  /** Remembers mends with which a request succeeded after it was refused without them. */
  learn(upstream: string, model: string, keyId: string | null, names: readonly string[]): void
}

/** Facts in the memory of a process. */
export interface KnownFacts extends Facts {
  replace(facts: readonly Fact[]): void
}

const NONE: readonly string[] = []

/** Creates the memory of facts of this process. */
export function createFacts(now: () => number = Date.now): KnownFacts {
  const known = new LRUCache<string, readonly Fact[]>({ max: REMEMBERED })
  const isFresh = ({ metAt }: Fact): boolean => metAt > now() - FACT_MS

  return {
    of(upstream, model, keyId) {
      const fresh = known.get(keyOf(upstream, model))?.filter(isFresh) ?? []
      if (fresh.length === 0) return NONE
      return [...new Set(fresh.filter((fact) => holdsFor(fact, fresh, keyId ?? '')).map(({ name }) => name))]
    },
    learn(upstream, model, keyId, names) {
      const key = keyOf(upstream, model)
      const before = known.get(key)?.filter(isFresh) ?? []
      const met = names.map((name) => ({ upstream, model, name, keyId: keyId ?? '', metAt: now() }))
      const others = before.filter((one) => !met.some(({ name, keyId: by }) => name === one.name && by === one.keyId))
      known.set(key, [...others, ...met].slice(-REMEMBERED))
    },
    replace(facts) {
      known.clear()
      for (const fact of facts) {
        const key = keyOf(fact.upstream, fact.model)
        known.set(key, [...(known.get(key) ?? []), fact])
      }
    },
  }
}

const holdsFor = (fact: Fact, all: readonly Fact[], keyId: string): boolean =>
  fact.keyId === keyId ||
  (!isLimitFact(fact.name) && all.some(({ name, keyId: other }) => name === fact.name && other !== fact.keyId))

const keyOf = (upstream: string, model: string): string => `${upstream}\n${model}`
