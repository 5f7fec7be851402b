import type { Kysely } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { readCheckedKeys } from './checked-keys.ts'
import { type Identity, identityOf } from './identity.ts'

/** Reads stored keys that are neither revoked nor expired, by id or by bound wallet (in lower case), newest first. */
export async function keysInForce(
  db: Kysely<Schema>,
  of: { id: string } | { wallet: string },
  now: Date,
): Promise<Identity[]> {
  const at = now.toISOString()
  const rows = await readCheckedKeys(db, of)
  return rows
    .filter(({ revoked_at, expires_at }) => revoked_at === null && (expires_at === null || expires_at > at))
    .map(identityOf)
}
