import type { Store } from '../../src/store/store.ts'

/** Runs of a property on an engine: a quarter on PostgreSQL, where each costs several times as much, and SQLite has them all. */
export const runsOn = ({ engine }: Pick<Store, 'engine'>, runs: number): number =>
  engine === 'sqlite' ? runs : Math.ceil(runs / 4)
