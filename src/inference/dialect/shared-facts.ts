import { withoutNul } from '../../store/storable-text.ts'
import type { Store } from '../../store/store.ts'
import type { Sweep } from '../../store/sweeps.ts'
import { createFacts, FACT_MS, type Fact, type Facts } from './facts.ts'

/** Time after which a process reads again what others have learned or forgotten, in milliseconds. */
const REREAD_MS = 10_000
/** Most facts that are read, the latest: clients may send any number of invented names. */
const MOST_READ = 5000

/** Facts of all processes that share a store. */
export interface SharedFacts extends Facts {
  sweep: Sweep
}

/**
 * Creates facts that are shared by the store. A call uses what its process knows; it waits for neither a read nor a write.
 *
 * @param deps.onError called when the store fails: facts are then those of this process
 */
export function createSharedFacts(deps: {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
}): SharedFacts {
  const { store, now, onError } = deps
  const known = createFacts(() => now().getTime())
  let readAt = Number.NEGATIVE_INFINITY
  /** Number of times that this process has learned. */
  let learned = 0
  let writing = Promise.resolve()

  async function read(): Promise<void> {
    const before = learned
    await writing
    const facts = await listFacts(store, now())
    // What was learned in between may not have been read.
    if (learned === before) known.replace(facts)
  }

  async function write(facts: readonly Fact[]): Promise<void> {
    const rows = facts.map(({ upstream, model, name, keyId, metAt }) => ({
      upstream,
      model: withoutNul(model),
      name,
      key_id: keyId,
      met_at: new Date(metAt).toISOString(),
    }))
    await store.db
      .insertInto('model_facts')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['upstream', 'model', 'name', 'key_id'])
          .doUpdateSet(({ ref }) => ({ met_at: ref('excluded.met_at') })),
      )
      .execute()
  }

  return {
    of(upstream, model, keyId) {
      const at = now().getTime()
      if (at - readAt > REREAD_MS) {
        readAt = at
        void read().catch(onError)
      }
      return known.of(upstream, model, keyId)
    },
    learn(upstream, model, keyId, names) {
      learned++
      known.learn(upstream, model, keyId, names)
      const metAt = now().getTime()
      const facts = names.map((name) => ({ upstream, model, name, keyId: keyId ?? '', metAt }))
      writing = writing.then(() => write(facts)).catch(onError)
    },
    sweep: {
      name: 'facts.expired',
      everyMs: FACT_MS,
      async batch() {
        const { numDeletedRows } = await store.db
          .deleteFrom('model_facts')
          .where('met_at', '<', new Date(now().getTime() - FACT_MS).toISOString())
          .executeTakeFirst()
        return Number(numDeletedRows)
      },
    },
  }
}

/** Lists the facts in force, in the order in which they were met. */
export async function listFacts({ db }: Store, now: Date): Promise<Fact[]> {
  const rows = await db
    .selectFrom('model_facts')
    .selectAll()
    .where('met_at', '>', new Date(now.getTime() - FACT_MS).toISOString())
    .orderBy('met_at', 'desc')
    .limit(MOST_READ)
    .execute()
  return rows
    .map(({ upstream, model, name, key_id, met_at }) => ({
      upstream,
      model,
      name,
      keyId: key_id,
      metAt: new Date(met_at).getTime(),
    }))
    .reverse()
}

/** Forgets all facts. Running processes follow with a call, at most ten seconds later. @returns their number */
export async function forgetFacts({ db }: Store): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('model_facts').executeTakeFirst()
  return Number(numDeletedRows)
}
