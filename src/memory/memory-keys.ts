import type { Kysely } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { isLive } from './memory-expiry.ts'
import { totals } from './memory-totals.ts'

/** Query for keys. */
export interface KeysQuery {
  /** Prefix of the keys; empty for all of them. */
  start: string
  /** Only of this namespace; of all of them when absent. */
  namespace?: string | undefined
  limit: number
}

/** The first keys that begin with `start`, in order, each of them once. They are read from the index of each namespace. */
export async function memoryKeys(db: Kysely<Schema>, space: number, query: KeysQuery, now: string): Promise<string[]> {
  const { start, namespace, limit } = query
  const namespaces = namespace === undefined ? (await totals(db, now, space)).map((row) => row.namespace) : [namespace]
  const found = new Set<string>()
  for (const one of namespaces) {
    const rows = await db
      .selectFrom('memories')
      .select('key')
      .where('space', '=', space)
      .where('namespace', '=', one)
      .where('key', '>=', start)
      .where('key', '<', `${start}\u{10ffff}`)
      .where(isLive(now))
      .orderBy('key')
      .limit(limit)
      .execute()
    for (const { key } of rows) found.add(key)
  }
  return [...found].sort().slice(0, limit)
}
