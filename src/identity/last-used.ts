import type { Store } from '../store/store.ts'

/** Delay after the first use in which uses are collected, in milliseconds. */
const BATCH_MS = 60_000

/** Records when keys were last used, in batches. */
export interface LastUsed {
  /** Records a use now. */
  mark(id: string): void
  /** Writes pending uses. Those of the last minute are lost when a process is killed. */
  flush(): Promise<void>
}

/** Creates the batch writer. @param onError called when a batch could not be written and is dropped */
export function createLastUsed({
  store,
  now,
  onError,
}: {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
}): LastUsed {
  let uses = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    // Sorted by id, so that concurrent processes lock rows in one order.
    const noted = [...uses].sort(([a], [b]) => (a < b ? -1 : 1))
    uses = new Map()
    if (noted.length === 0) return
    try {
      await store.write(async (trx) => {
        for (const [id, at] of noted)
          await trx
            .updateTable('keys')
            .set({ last_used_at: at })
            .where('id', '=', id)
            // Another process may have written a later use.
            .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<', at)]))
            .execute()
      })
    } catch (error) {
      onError(error)
    }
  }

  return {
    mark(id) {
      uses.set(id, now().toISOString())
      timer ??= setTimeout(() => void flush(), BATCH_MS).unref()
    },
    flush,
  }
}
