import type { Kysely } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import { isLive } from './memory-expiry.ts'
import { totals } from './memory-totals.ts'

/** Query for keys. */
export interface KeysQuery {
  /** Prefix of the keys; empty for all keys. */
  start: string
  /** Only keys of this namespace; all namespaces when absent. */
  namespace?: string | undefined
  limit: number
}

/** Returns the first distinct keys that begin with `start`, in order. Each namespace is read from its index. */
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
