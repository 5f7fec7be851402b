import { type RawBuilder, sql } from 'kysely'
import { ENVIRONMENT_IDENTITY } from '../../identity/identity.ts'

/** Caller of the memories of one owner: it writes them, and reads those that it may trust. */
export interface Caller {
  /** Id of its key; null for the tools and hooks of this machine. */
  id: string | null
  /** Ids and names of keys whose memories the configuration trusts. */
  trusts: readonly string[]
}

/** The tools and hooks of this machine, which trust no key by name. */
export const THIS_MACHINE: Caller = { id: null, trusts: [] }

/**
 * SQL condition: a row of `memories` may be given to a model unasked. Its writer is
 *
 * - this machine, or the caller itself
 * - an admin's key that is not revoked
 * - a key that the configuration trusts, by id, or by name unless it is revoked
 */
export function isTrustedBy({ id, trusts }: Caller): RawBuilder<boolean> {
  const ids = [ENVIRONMENT_IDENTITY.id, ...(id === null ? [] : [id]), ...trusts]
  const isNamed = trusts.length === 0 ? sql`` : sql` or keys.name in (${sql.join(trusts)})`
  return sql<boolean>`(memories.written_by is null or memories.written_by in (${sql.join(ids)}) or exists (
    select 1 from keys where keys.id = memories.written_by and keys.revoked_at is null
      and (cast(keys.scopes as text) like '%"admin"%'${isNamed})))`
}
