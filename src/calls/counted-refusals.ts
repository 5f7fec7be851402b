import { hourOf } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import type { CallRollupRow } from '../store/tables/calls-tables.ts'
import { NO_CALLS } from './call-figures.ts'
import type { CallRecord } from './call-record.ts'
import { UNLISTED } from './call-status.ts'
import { writeCounts } from './call-writer.ts'

/** Creates the refusals that wait to be added to the sums: one row per hour, caller and path, however many there are. */
export function createCountedRefusals(store: Store) {
  let waiting = new Map<string, CallRollupRow>()

  function addRow(row: CallRollupRow): void {
    const key = `${row.hour}\0\0${row.caller_id}\0${row.path}`
    const sum = waiting.get(key)
    if (sum) sum.calls += row.calls
    else waiting.set(key, { ...row })
  }

  return {
    add({ at, caller_id, path }: CallRecord): void {
      addRow({
        hour: hourOf(at),
        model: '',
        caller_id: caller_id ?? '',
        path,
        status: UNLISTED,
        latency_bucket: 0,
        ...NO_CALLS,
        calls: 1,
      })
    },
    /** Writes all waiting rows, in key order. @throws the store's error; the rows then wait for the next time */
    async write(): Promise<void> {
      if (waiting.size === 0) return
      const rows = [...waiting].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
      waiting = new Map()
      try {
        await writeCounts(store, rows)
      } catch (error) {
        for (const row of rows) addRow(row)
        throw error
      }
    },
  }
}
