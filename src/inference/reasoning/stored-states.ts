import type { Store } from '../../store/store.ts'

const DAY_MS = 24 * 3_600_000
/** Answers looked up for one request, the latest: more than a context window holds. */
const MOST_ANSWERS = 500

/** Sealed reasoning of answers, for clients that bring back only their tool calls. */
export interface StoredStates {
  /**
   * Keeps a state for `responses.keep_days`. Never rejects.
   *
   * @param seal seals it; empty for one that cannot be sealed
   */
  keep(reference: string, seal: () => Promise<string>): Promise<void>
  /** Tells whether any state is kept, before references are made of a whole conversation. Never rejects. */
  areAny(): Promise<boolean>
  /** Finds sealed states by their references. Never rejects. */
  find(references: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Deletes states that are over. @returns their number */
  deleteOld(limit: number): Promise<number>
}

/**
 * Creates the kept states.
 *
 * @param deps.keepDays setting `responses.keep_days`; nothing is kept at 0
 * @param deps.onError called when the store fails
 */
export function createStoredStates(deps: {
  store: Store
  now: () => Date
  keepDays: () => number
  onError: (error: unknown) => void
}): StoredStates {
  const { store, now, keepDays, onError } = deps
  /** States on their way to the store: the next request may come before they are written. */
  const writing = new Map<string, Promise<void>>()
  /** True once a state was seen. Another process may keep the first one at any time. */
  let isAny = false

  async function write(reference: string, seal: () => Promise<string>): Promise<void> {
    const sealed = await seal()
    if (sealed === '') return
    const expires_at = new Date(now().getTime() + keepDays() * DAY_MS).toISOString()
    await store.db
      .insertInto('reasoning_states')
      .values({ reference, sealed, expires_at })
      .onConflict((conflict) => conflict.column('reference').doUpdateSet({ sealed, expires_at }))
      .execute()
  }

  async function read(references: readonly string[]): Promise<[string, string][]> {
    const rows = await store.db
      .selectFrom('reasoning_states')
      .select(['reference', 'sealed'])
      .where('reference', 'in', references)
      .where('expires_at', '>', now().toISOString())
      .execute()
    return rows.map(({ reference, sealed }) => [reference, sealed])
  }

  return {
    async areAny() {
      isAny ||= await store.db
        .selectFrom('reasoning_states')
        .select('reference')
        .limit(1)
        .executeTakeFirst()
        .then((row) => row !== undefined)
        .catch((error) => {
          onError(error)
          return false
        })
      return isAny
    },
    async keep(reference, seal) {
      if (keepDays() === 0) return
      isAny = true
      const written = write(reference, seal).catch(onError)
      writing.set(reference, written)
      await written
      writing.delete(reference)
    },
    async find(references) {
      const asked = references.slice(-MOST_ANSWERS)
      await Promise.all(asked.map((one) => writing.get(one)))
      return new Map(
        await read(asked).catch((error): [string, string][] => {
          onError(error)
          return []
        }),
      )
    },
    deleteOld: (limit) => deleteOver(store, now().toISOString(), limit),
  }
}

/** Deletes at most `limit` states that are over at a time. @returns their number */
function deleteOver(store: Store, at: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const over = await trx
      .selectFrom('reasoning_states')
      .select('reference')
      .where('expires_at', '<=', at)
      .orderBy('expires_at')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute()
    const references = over.map(({ reference }) => reference)
    if (references.length > 0) await trx.deleteFrom('reasoning_states').where('reference', 'in', references).execute()
    return references.length
  })
}
