/** How long a fact holds after it was met, in milliseconds: upstreams change. */
const FACT_MS = 60 * 60 * 1000
/** Time after which the facts of other processes are read again, in milliseconds. */
const REREAD_MS = 15_000
/** Most models of which facts are kept: clients may send any number of invented names. */
const REMEMBERED = 1000

/** A mend that a model of an upstream needs, as one key has met it. */
export interface Fact {
  /** Upstream, as records name it. */
  upstream: string
  /** Model id at the upstream. Empty for its default. */
  model: string
  /** Name of the mend. */
  name: string
  /** Key that met it. Empty for the tools of this machine. */
  keyId: string
  /** When the mended request succeeded, in milliseconds since 1970. */
  metAt: number
}

/** Keeps facts for other processes and later starts. */
export interface FactStore {
  read(since: number): Promise<Fact[]>
  write(facts: readonly Fact[]): Promise<void>
}

/** Facts about the models of upstreams. One holds for the key that met it; for all keys once a second one has. */
export interface Facts {
  /** Names of the mends that a request of a key needs. */
  of(upstream: string, model: string, keyId: string | null): readonly string[]
  /** Remembers mends with which a request succeeded after it was refused without them. */
  learn(upstream: string, model: string, keyId: string | null, names: readonly string[]): void
}

const NONE: readonly string[] = []

/**
 * Creates the memory of facts.
 *
 * @param store keeps them beyond this process. Null to forget them with it
 */
export function createFacts(store: FactStore | null = null, now: () => number = Date.now): Facts {
  let known = new Map<string, Fact[]>()
  /** Facts that the store may not have yet. */
  const unwritten = new Set<Fact>()
  let readAt = Number.NEGATIVE_INFINITY

  function add(into: Map<string, Fact[]>, fact: Fact): void {
    const key = keyOf(fact.upstream, fact.model)
    const all = into.get(key) ?? []
    if (all.length === 0 && into.size >= REMEMBERED) return
    into.set(key, [...all.filter((one) => one.name !== fact.name || one.keyId !== fact.keyId), fact])
  }

  /** Reads what others have met and forgotten, beside the calls: these use what is known meanwhile. */
  function reread(): void {
    if (store === null || now() - readAt < REREAD_MS) return
    readAt = now()
    store.read(now() - FACT_MS).then(
      (facts) => {
        const read = new Map<string, Fact[]>()
        for (const fact of [...facts, ...unwritten]) add(read, fact)
        known = read
      },
      // The next reading may succeed. Without the store, this process remembers what it met.
      () => {},
    )
  }
  reread()

  return {
    of(upstream, model, keyId) {
      reread()
      const all = known.get(keyOf(upstream, model))
      if (all === undefined) return NONE
      const fresh = all.filter(({ metAt }) => metAt > now() - FACT_MS)
      return [...new Set(fresh.filter((fact) => holdsFor(fact, fresh, keyId ?? '')).map(({ name }) => name))]
    },
    learn(upstream, model, keyId, names) {
      const met = names.map((name) => ({ upstream, model, name, keyId: keyId ?? '', metAt: now() }))
      for (const fact of met) {
        add(known, fact)
        unwritten.add(fact)
      }
      const written = () => {
        for (const fact of met) unwritten.delete(fact)
      }
      store?.write(met).then(written, written)
    },
  }
}

const holdsFor = (fact: Fact, all: readonly Fact[], keyId: string): boolean =>
  fact.keyId === keyId || all.some(({ name, keyId: other }) => name === fact.name && other !== fact.keyId)

const keyOf = (upstream: string, model: string): string => `${upstream}\n${model}`
