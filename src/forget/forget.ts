import { setTimeout as pause } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { GazewayError } from '../errors.ts'
import { forgetGaze } from '../gaze/forget-gaze.ts'
import { forgetWriter } from '../memory/records/forget-writer.ts'
import { RECORD_TABLES, type RecordTable } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** Rows that a statement erases: each may be long, and others wait meanwhile. */
const AT_ONCE = 50
/** Time in milliseconds after which all processes know that a key is revoked. */
const KNOWN_MS = 6_000

/** Result: erased rows by table. Tables without any are omitted. */
export type Erased = Partial<Record<RecordTable, number>>

/** Text of a person in one table: its rows, and the columns that are emptied. Without columns the rows are deleted. */
interface Erasure {
  table: RecordTable
  where: RawBuilder<unknown>
  empty?: Readonly<Record<string, string | null>>
}

/** Columns of calls that their clients word, and the address that they came from. */
const CALL_TEXTS = {
  content: null,
  error: null,
  address: null,
  session_id: null,
  thread_id: null,
  parent_id: null,
  turn_id: null,
}

/** Tables with texts of callers, those first that are found by others. Memories and gaze have erasers of their own. */
const erasures = (id: string): Erasure[] => {
  const inChats = sql`session_id in (select id from sessions where user_id = ${id})`
  const inConversations = sql`conversation_id in (select id from conversations where owner = ${id})`
  const ofCalls = sql`call_id in (select call_id from calls where caller_id = ${id})`
  return [
    { table: 'session_texts', where: inChats },
    { table: 'session_messages', where: inChats },
    { table: 'sessions', where: sql`user_id = ${id}` },
    { table: 'session_totals', where: sql`user_id = ${id}` },
    { table: 'conversation_turns', where: inConversations },
    { table: 'conversations', where: sql`owner = ${id}` },
    { table: 'call_tags', where: ofCalls },
    { table: 'calls', where: sql`caller_id = ${id}`, empty: CALL_TEXTS },
    { table: 'upstream_objects', where: sql`caller_id = ${id}` },
    { table: 'session_facts', where: sql`caller_id = ${id}` },
    { table: 'session_commits', where: sql`caller_id = ${id}` },
    { table: 'coding_sessions', where: sql`caller_id = ${id}` },
    { table: 'session_states', where: sql`caller_id = ${id}` },
    { table: 'reviews', where: sql`caller_id = ${id}` },
    // Those under way are in use by the request that stores its reply there.
    { table: 'idempotency_keys', where: sql`scope = ${id} and in_flight_until is null` },
    { table: 'tasks', where: sql`creator = ${id}`, empty: { title: '', description: '' } },
    { table: 'tasks', where: sql`claimed_by = ${id}`, empty: { result: null, agent: null } },
    { table: 'swarms', where: sql`creator = ${id}`, empty: { goal: '' } },
    { table: 'alert_messages', where: sql`owner = ${id}` },
    { table: 'keys', where: sql`id = ${id}`, empty: { name: 'forgotten' } },
  ]
}

/**
 * Erases what a caller wrote: chats, conversations, memories, contents and session words of calls, gaze, reviews, texts of
 * tasks, replies that were kept, and the name of its key. What proves money stays under its id: ledger, receipts, sums,
 * statements, call records without content.
 *
 * A key is revoked first. Requests that are under way go on, and nothing of them is stored.
 *
 * @param id of a key, or the address of a wallet that pays without one
 * @param deps.revoke revokes the key, if it is one
 * @param deps.knownMs time until all processes know of it, in milliseconds
 * @throws GazewayError `not_found` for an id that nothing is known of, and as `deps.revoke`
 */
export async function forgetCaller(
  id: string,
  {
    store,
    now,
    revoke,
    knownMs = KNOWN_MS,
  }: { store: Store; now: () => Date; revoke: (keyId: string) => Promise<unknown>; knownMs?: number },
): Promise<Erased> {
  const key = await store.db.selectFrom('keys').select('revoked_at').where('id', '=', id).executeTakeFirst()
  if (key === undefined && !(await isKnown(store, id)))
    throw new GazewayError('not_found', `There is no key ${id}, and no caller of that id.`, { param: 'id' })
  const at = now().toISOString()
  if (key !== undefined) await revoke(id)
  await store.db
    .insertInto('forgotten')
    .values({ id, at })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  // Writes that have begun before the line above end meanwhile, and no process accepts the key any more.
  await pause(knownMs)
  const erased: Erased = {}
  const count = (table: RecordTable, rows: number) => {
    if (rows > 0) erased[table] = (erased[table] ?? 0) + rows
  }
  count('memories', await forgetWriter(store, id, now().toISOString()))
  count('gaze_packs', await forgetGaze(store, id))
  for (const erasure of erasures(id)) count(erasure.table, await erase(store, erasure))
  return erased
}

async function isKnown({ db }: Store, id: string): Promise<boolean> {
  const found = await sql`select 1 from ledger_accounts where owner = ${id}
    union all select 1 from calls where caller_id = ${id} limit 1`.execute(db)
  return found.rows.length > 0
}

/** Erases the rows of one kind in short transactions. @returns their number */
async function erase(store: Store, { table, where, empty }: Erasure): Promise<number> {
  const key = sql.join(RECORD_TABLES[table].map((column) => sql.ref(column)))
  const filled = Object.entries(empty ?? {}).map(([column, value]) =>
    value === null ? sql`${sql.ref(column)} is not null` : sql`${sql.ref(column)} <> ${value}`,
  )
  const left = filled.length === 0 ? where : sql`${where} and (${sql.join(filled, sql` or `)})`
  const rows = sql`(${key}) in (select ${key} from ${sql.table(table)} where ${left} limit ${AT_ONCE})`
  const values = Object.entries(empty ?? {}).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
  const statement =
    empty === undefined
      ? sql`delete from ${sql.table(table)} where ${rows}`
      : sql`update ${sql.table(table)} set ${sql.join(values)} where ${rows}`
  for (let erased = 0; ; ) {
    const { numAffectedRows } = await store.write((trx) => statement.execute(trx))
    erased += Number(numAffectedRows ?? 0)
    if (Number(numAffectedRows ?? 0) < AT_ONCE) return erased
  }
}
