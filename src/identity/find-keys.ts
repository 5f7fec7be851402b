import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import * as z from 'zod'
import { toUtc } from '../store/dates.ts'
import { decodeCursor, ListQuery, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { readCheckedKeys } from './checked-keys.ts'
import { GroupId } from './group.ts'
import { ENVIRONMENT_IDENTITY, type Identity, identityOf } from './identity.ts'
import { KeyId, type KeyRecord } from './key.ts'
import { KEY_COLUMNS, type ShownRow } from './key-record.ts'

/** Finds the identity of a key by id, even of a revoked one; null when there is none. */
export async function findKey(db: Kysely<Schema>, id: string): Promise<Identity | null> {
  if (id === ENVIRONMENT_IDENTITY.id) return ENVIRONMENT_IDENTITY
  const [row] = await readCheckedKeys(db, { id })
  return row === undefined ? null : identityOf(row)
}

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

/** Keys that a name is looked for among. */
export type NamedAmong = 'unrevoked' | 'revoked'

/** Reads the ids of keys with a name, newest first. */
export async function keysNamed(db: Kysely<Schema>, name: string, among: NamedAmong): Promise<string[]> {
  const isRevoked = among === 'revoked' ? 'is not' : 'is'
  const query = db.selectFrom('keys').select('id').where('name', '=', name).where('revoked_at', isRevoked, null)
  const rows = await query.orderBy('id', 'desc').execute()
  return rows.map(({ id }) => id)
}

/** Reads the names of keys by id, revoked ones included. Ids of wallets are missing. */
export async function namesOfKeys(db: Kysely<Schema>, ids: readonly string[]): Promise<Map<string, string>> {
  const names = new Map([[ENVIRONMENT_IDENTITY.id, ENVIRONMENT_IDENTITY.name]])
  if (ids.length === 0) return names
  for (const { id, name } of await db.selectFrom('keys').select(['id', 'name']).where('id', 'in', ids).execute())
    names.set(id, name)
  return names
}

/** Tells whether the store has a valid key with the scope `admin`. */
export async function hasAdmin(db: Kysely<Schema>, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('keys')
    .select('id')
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now.toISOString())]))
    .where(sql<boolean>`cast(scopes as text) like '%"admin"%'`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Query of the list of keys. */
export const KeyList = ListQuery.extend({
  group: GroupId.optional().describe('Only the keys of this group.'),
  unused_since: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Only keys that were made and last used before this time, and are not revoked.'),
})
export type KeyList = z.infer<typeof KeyList>

/** Lists keys, revoked ones included, newest first. @throws GazewayError `invalid_cursor` */
export async function listKeys(
  store: Store,
  page: Paged<KeyList>,
  records: (rows: readonly ShownRow[]) => Promise<KeyRecord[]>,
): Promise<Page<KeyRecord>> {
  const { cursor, offset } = page
  // Ids sort by creation.
  let query = meeting(pageReader(store, page).selectFrom('keys'), page).select(KEY_COLUMNS).orderBy('id', 'desc')
  if (cursor !== undefined) query = query.where('id', '<', decodeCursor(cursor, z.tuple([KeyId]))[0])
  if (offset !== undefined) query = query.offset(offset)
  return readPage(page, {
    rows: async (limit) => records(await query.limit(limit).execute()),
    async total() {
      const counted = meeting(store.db.selectFrom('keys'), page).select(sql<number>`count(*)`.as('total'))
      return Number((await counted.executeTakeFirstOrThrow()).total)
    },
    item: (record) => record,
    cursor: (row) => [row.id],
  })
}

function meeting(
  keys: SelectQueryBuilder<Schema, 'keys', object>,
  { group, unused_since }: Pick<KeyList, 'group' | 'unused_since'>,
): SelectQueryBuilder<Schema, 'keys', object> {
  let query = keys
  if (group !== undefined) query = query.where('group_id', '=', group)
  if (unused_since === undefined) return query
  return query
    .where('revoked_at', 'is', null)
    .where(sql<string>`coalesce(last_used_at, created_at)`, '<', toUtc(unused_since))
}
