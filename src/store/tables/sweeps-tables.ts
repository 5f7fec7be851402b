/** One recurring chore and its due time. The process that advances `next_at` runs it. */
export interface SweepRow {
  name: string
  next_at: string
}

export interface SweepTables {
  sweeps: SweepRow
}
