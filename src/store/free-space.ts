import type { Store } from './store.ts'
import type { Sweep } from './sweeps.ts'

const EVERY_MS = 600_000
/** Pages that a batch gives back: few, so that it holds the store for some milliseconds only. */
const PAGES = 64

/** Sweep that gives the free pages of a SQLite file back to the disk. PostgreSQL does so by itself. */
export const spaceSweep = (store: Store): Sweep => ({
  name: 'store.space',
  everyMs: EVERY_MS,
  batch: async (limit) => ((await store.shrink(PAGES)) ? limit : 0),
})
