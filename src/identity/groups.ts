import { type Kysely, sql, type Transaction } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { KeyGroupRow } from '../store/tables/keys-tables.ts'
import { newId } from '../text/ids.ts'
import { parseInput } from '../wire/validation.ts'
import { readAlerts, replaceAlerts, toAlertRecords, toAlertRows } from './alert-thresholds.ts'
import { readBudgets, replaceBudgets, toBudgetRecords, toBudgetRows } from './budgets.ts'
import { GroupChange, GroupId, type GroupRecord, NewGroup } from './group.ts'
import {
  changeSessionLimits,
  readSessionLimits,
  removeSessionLimits,
  toSessionLimits,
  toSessionRow,
} from './session-limits.ts'
import { nothingSpent, type SpendOf, toDebt, toPresumed, toSpend } from './spend.ts'

export { GroupChange, GroupId, GroupRecord, NewGroup } from './group.ts'

/** PostgreSQL error code of a unique violation. */
const UNIQUE_VIOLATION = '23505'

/** Groups of keys. Spending of a key counts against the budgets of its group too. */
export interface Groups {
  /**
   * Creates a group.
   *
   * @param keep called with the group in the same transaction
   * @throws GazewayError `validation_failed`, or `conflict` when another group has the name
   */
  create(input: z.input<typeof NewGroup>, keep?: Keep<GroupRecord>): Promise<GroupRecord>
  /** Lists all groups, newest first. @throws GazewayError `invalid_cursor` */
  list(query: Paged): Promise<Page<GroupRecord>>
  /** Finds a group by id or name; null when there is none. */
  find(idOrName: string): Promise<GroupRecord | null>
  /**
   * Changes a group's name, budgets, limits or alerts. New budgets and limits apply at once in this process, within 5 s in others.
   *
   * @throws GazewayError `validation_failed`, `not_found`, or `conflict` when another group has the name
   */
  change(id: string, change: z.input<typeof GroupChange>): Promise<GroupRecord>
  /** Deletes a group. @throws GazewayError `not_found`, or `conflict` while it has unrevoked keys */
  remove(id: string): Promise<void>
}

/** Dependencies of {@link createGroups}. */
export interface GroupsDeps {
  store: Store
  now: () => Date
  /** Reads the spending of groups, for their records; none by default. */
  spendOf?: SpendOf
  /** Called after the budgets or limits of a group were changed here. */
  onChanged?: (id: string) => void
}

/** Creates the groups of `store`. */
export function createGroups({ store, now, spendOf = nothingSpent, onChanged }: GroupsDeps): Groups {
  const { db } = store

  const records = (groups: readonly KeyGroupRow[]) =>
    recordsOf(
      db,
      groups,
      spendOf(
        groups.map(({ id }) => id),
        now(),
      ),
    )

  const recordOf = async (group: KeyGroupRow) => (await records([group]))[0] as GroupRecord

  return {
    async create(input, keep) {
      const { name, budgets, limits, alerts } = parseInput(NewGroup, input)
      const group = { id: newId('grp'), name, created_at: now().toISOString() }
      return insertGroup(store, group, { budgets, limits, alerts }, keep)
    },

    async list(page) {
      const { cursor, offset } = page
      // Ids sort by creation.
      let query = pageReader(store, page).selectFrom('key_groups').selectAll().orderBy('id', 'desc')
      if (cursor !== undefined) query = query.where('id', '<', decodeCursor(cursor, z.tuple([GroupId]))[0])
      if (offset !== undefined) query = query.offset(offset)
      return readPage(page, {
        rows: async (limit) => records(await query.limit(limit).execute()),
        total: () => countGroups(db),
        item: (group) => group,
        cursor: ({ id }) => [id],
      })
    },

    async find(idOrName) {
      const group = await findGroup(db, idOrName)
      return group === undefined ? null : recordOf(group)
    },

    async change(id, input) {
      const { name, budgets, limits, alerts } = parseInput(GroupChange, input)
      const group = await store.write(async (trx) => {
        const present = await lockGroup(trx, id)
        if (present === undefined) throw unknownGroup('id')
        if (budgets !== undefined) await replaceBudgets(trx, id, toBudgetRows(id, budgets))
        if (limits !== undefined) await changeSessionLimits(trx, id, limits)
        if (alerts !== undefined) await replaceAlerts(trx, id, toAlertRows(id, alerts))
        return name === undefined ? present : rename(trx, present, name)
      })
      if (budgets !== undefined || limits !== undefined) onChanged?.(id)
      return recordOf(group)
    },

    remove: (id) => store.write((trx) => removeGroup(trx, id)),
  }
}

/** Inserts a group with its terms. @throws GazewayError `conflict` when another group has the name */
async function insertGroup(
  store: Store,
  group: KeyGroupRow,
  { budgets, limits, alerts }: Omit<z.output<typeof NewGroup>, 'name'>,
  keep: Keep<GroupRecord> | undefined,
): Promise<GroupRecord> {
  const record = {
    ...group,
    budgets: [],
    alerts: [],
    keys: 0,
    spend: toSpend(undefined),
    debt_usd: 0,
    presumed_usd: 0,
  }
  const rows = toBudgetRows(group.id, budgets)
  const alertRows = toAlertRows(group.id, alerts)
  const made = {
    ...record,
    budgets: toBudgetRecords(rows),
    limits: toSessionLimits(toSessionRow(group.id, limits)),
    alerts: toAlertRecords(alertRows),
  }
  await store.write(async (trx) => {
    if (!(await isInserted(trx, group))) return
    await replaceBudgets(trx, group.id, rows)
    await changeSessionLimits(trx, group.id, limits)
    await replaceAlerts(trx, group.id, alertRows)
    await keep?.(trx, made)
  })
  return made
}

async function recordsOf(
  db: Kysely<Schema>,
  groups: readonly KeyGroupRow[],
  spend: ReturnType<SpendOf>,
): Promise<GroupRecord[]> {
  const ids = groups.map(({ id }) => id)
  const [budgets, alerts, sessions, spent, keys] = await Promise.all([
    readBudgets(db, ids),
    readAlerts(db, ids),
    readSessionLimits(db, ids),
    spend,
    countKeys(db, ids),
  ])
  return groups.map(({ id, name, created_at }) => ({
    id,
    name,
    budgets: toBudgetRecords(budgets.get(id) ?? []),
    limits: toSessionLimits(sessions.get(id)),
    alerts: toAlertRecords(alerts.get(id) ?? []),
    keys: keys.get(id) ?? 0,
    spend: toSpend(spent.get(id)),
    debt_usd: toDebt(spent.get(id)),
    presumed_usd: toPresumed(spent.get(id)),
    created_at,
  }))
}

async function removeGroup(trx: Transaction<Schema>, id: string): Promise<void> {
  if ((await lockGroup(trx, id)) === undefined) throw unknownGroup('id')
  const keys = (await countKeys(trx, [id])).get(id) ?? 0
  if (keys > 0) throw groupInUse(keys)
  await replaceBudgets(trx, id, [])
  await replaceAlerts(trx, id, [])
  await removeSessionLimits(trx, id)
  await trx.deleteFrom('key_groups').where('id', '=', id).execute()
}

async function countGroups(db: Kysely<Schema>): Promise<number> {
  const counted = db.selectFrom('key_groups').select(sql<number>`count(*)`.as('total'))
  return Number((await counted.executeTakeFirstOrThrow()).total)
}

/**
 * Inserts a group.
 *
 * @returns false when it was inserted before: the connection was lost after the commit
 * @throws GazewayError `conflict` when another group has the name
 */
async function isInserted(trx: Transaction<Schema>, group: KeyGroupRow): Promise<boolean> {
  const insertion = trx
    .insertInto('key_groups')
    .values(group)
    .onConflict((conflict) => conflict.doNothing())
  if (await insertion.returning('id').executeTakeFirst()) return true
  const owner = await trx.selectFrom('key_groups').select('id').where('name', '=', group.name).executeTakeFirst()
  if (owner?.id === group.id) return false
  throw nameTaken(group.name)
}

/**
 * Locks a group against changes and deletion until the transaction ends.
 *
 * @param idOrName id or name of the group
 * @returns undefined when there is none
 */
export async function lockGroup(trx: Transaction<Schema>, idOrName: string): Promise<KeyGroupRow | undefined> {
  return trx
    .updateTable('key_groups')
    .set({ name: sql`name` })
    .where(byIdOrName(idOrName), '=', idOrName)
    .returningAll()
    .executeTakeFirst()
}

/** Error for an unknown group, without its name. */
export const unknownGroup = (param: string): GazewayError =>
  new GazewayError(
    param === 'id' ? 'not_found' : 'validation_failed',
    `${param}: there is no such group. GET /api/groups and gazeway group list show all groups.`,
    { param },
  )

const findGroup = (db: Kysely<Schema>, idOrName: string) =>
  db.selectFrom('key_groups').selectAll().where(byIdOrName(idOrName), '=', idOrName).executeTakeFirst()

const byIdOrName = (text: string) => (GroupId.safeParse(text).success ? 'id' : 'name')

/** @throws GazewayError `conflict` when another group has the name */
async function rename(trx: Transaction<Schema>, group: KeyGroupRow, name: string): Promise<KeyGroupRow> {
  const other = await trx.selectFrom('key_groups').select('id').where('name', '=', name).executeTakeFirst()
  if (other !== undefined && other.id !== group.id) throw nameTaken(name)
  const renamed = trx.updateTable('key_groups').set({ name }).where('id', '=', group.id)
  await renamed.execute().catch((error: unknown) => {
    // PostgreSQL has concurrent writers: another group may have taken the name since.
    if (error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION) throw nameTaken(name)
    throw error
  })
  return { ...group, name }
}

/** Counts the unrevoked keys of each group. */
async function countKeys(db: Kysely<Schema>, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('keys')
    .select(['group_id', sql<number>`count(*)`.as('keys')])
    .where('group_id', 'in', ids)
    .where('revoked_at', 'is', null)
    .groupBy('group_id')
    .execute()
  return new Map(rows.map(({ group_id, keys }) => [group_id ?? '', Number(keys)]))
}

const nameTaken = (name: string) =>
  new GazewayError('conflict', `There is a group ${JSON.stringify(name)} already. Choose another name.`, {
    param: 'name',
  })

function groupInUse(keys: number): GazewayError {
  const them = keys === 1 ? '1 key is' : `${keys} keys are`
  return new GazewayError(
    'conflict',
    `${them} in this group. Revoke ${keys === 1 ? 'it' : 'them'}, or take ${keys === 1 ? 'it' : 'them'} out first: PATCH ` +
      '/api/keys/{id} {"group": null}, or gazeway key edit ID --no-group.',
    { param: 'id' },
  )
}
