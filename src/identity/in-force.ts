import type { Kysely } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { CHECKED_COLUMNS } from './cache.ts'
import { type Identity, identityOf } from './identity.ts'

/** The stored keys that are not revoked, by their id or by the wallet (in lower case) that they are bound to; newest first. */
export async function keysInForce(db: Kysely<Schema>, of: { id: string } | { wallet: string }): Promise<Identity[]> {
  const inForce = db.selectFrom('keys').select(CHECKED_COLUMNS).where('revoked_at', 'is', null).orderBy('id', 'desc')
  const rows = await ('id' in of ? inForce.where('id', '=', of.id) : inForce.where('wallet', '=', of.wallet)).execute()
  return rows.map(identityOf)
}
