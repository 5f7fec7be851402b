import type { Store } from '../store/store.ts'

/** Uses are noted together, this long after the first of them. */
const BATCH_MS = 60_000

/** Notes when keys were last used, without a write for each use. */
export interface LastUsed {
  /** The key was used now. */
  mark(id: string): void
  /** Writes what is noted. Uses of the last minute are lost when a process is killed. */
  flush(): Promise<void>
}

/** @param onError told when the notes could not be written; they are then given up */
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
    // In the order of ids, so that processes that write together lock rows in one order.
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
            // Another process may have noted a later one.
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
