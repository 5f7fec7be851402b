import { hourOf } from '../store/dates.ts'
import type { CallRollupRow } from '../store/tables/calls-tables.ts'
import { NO_CALLS } from './call-figures.ts'
import type { CallRecord } from './call-record.ts'
import { UNLISTED } from './call-status.ts'

/** Refusals waiting to be added to the sums: one row per hour, caller and path, however many there are. */
export interface CountedRefusals {
  add(record: CallRecord): void
  /** Takes all waiting rows, in key order. */
  take(): CallRollupRow[]
  /** Returns rows that could not be written. */
  putBack(rows: readonly CallRollupRow[]): void
}

/** Creates an empty set. */
export function createCountedRefusals(): CountedRefusals {
  let waiting = new Map<string, CallRollupRow>()

  function addRow(row: CallRollupRow): void {
    const key = `${row.hour}\0\0${row.caller_id}\0${row.path}`
    const sum = waiting.get(key)
    if (sum) sum.calls += row.calls
    else waiting.set(key, { ...row })
  }

  return {
    add({ at, caller_id, path }) {
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
    take() {
      const rows = [...waiting].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
      waiting = new Map()
      return rows
    },
    putBack(rows) {
      for (const row of rows) addRow(row)
    },
  }
}
