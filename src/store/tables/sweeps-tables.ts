/** One recurring chore, and when it is due again; whichever process moves `next_at` on does it. */
export interface SweepRow {
  name: string
  next_at: string
}

export interface SweepTables {
  sweeps: SweepRow
}
