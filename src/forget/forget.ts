import { setTimeout as pause } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { GazewayError } from '../errors.ts'
import { forgetGaze } from '../gaze/forget-gaze.ts'
import { ENVIRONMENT_IDENTITY } from '../identity/identity.ts'
import { WalletAddress } from '../identity/key.ts'
import { forgetWriter } from '../memory/records/forget-writer.ts'
import { RECORD_TABLES, type RecordTable } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { sessionOwner } from '../wallet/budget/session-budget.ts'

/** Rows that a statement erases: each may be long, and others wait meanwhile. */
const AT_ONCE = 50
/** Rows that are found at a time. Finding them may take long, but keeps nobody waiting. */
const FOUND = 5_000
/** Interval of the sweep, in milliseconds. */
const EVERY_MS = 3_600_000
/** Time for which the sweep comes back to a caller: longer than any reward is locked, in milliseconds. */
const AGAIN_MS = 31 * 86_400_000
/** Time in milliseconds after which all processes know that a key is revoked. */
const KNOWN_MS = 6_000

/** Result: erased rows by table. Tables without any are omitted. */
export type Erased = Partial<Record<RecordTable, number>>

/** Text of a person in one table: its rows, and the columns that are emptied. Without columns the rows are deleted. */
interface Erasure {
  table: RecordTable
  where: RawBuilder<unknown>
  empty?: Readonly<Record<string, string | null>>
  /** More that is set in the same rows. */
  also?: RawBuilder<unknown>
}

/** Columns of calls that their clients word, and the address that they came from. */
const CALL_TEXTS = {
  content: null,
  error: null,
  address: null,
  session: null,
  session_id: null,
  thread_id: null,
  parent_id: null,
  turn_id: null,
}

/** Calls keep the name of their client, which is no person's word, when they name their session no more. */
const CLIENT_OF_ITS_OWN = sql.join(
  (['client', 'client_version'] as const).map(
    (column) =>
      sql`${sql.ref(column)} = coalesce(${sql.ref(column)},
        (select ${sql.ref(`first_${column}`)} from coding_sessions
          where coding_sessions.number = calls.session and coding_sessions.caller_id = calls.caller_id))`,
  ),
)

/** Tables with texts of callers, those first that are found by others. Memories and gaze have erasers of their own. */
const erasures = (id: string, now: string): Erasure[] => {
  const inChats = sql`session_id in (select id from sessions where user_id = ${id})`
  const inConversations = sql`conversation_id in (select id from conversations where owner = ${id})`
  const ofCalls = sql`call_id in (select call_id from calls where caller_id = ${id})`
  const inSessions = sessionOwner({ callerId: id, sessionId: '' })
  // The next character after its colon.
  const afterSessions = `${inSessions.slice(0, -1)};`
  // A review compares the change with the result before the reward is paid.
  const isPaid = sql`not exists (select 1 from escrows where escrows.task_id = tasks.id and status = 'locked'
    and expires_at > ${now})`
  return [
    { table: 'session_texts', where: inChats },
    { table: 'session_messages', where: inChats },
    { table: 'sessions', where: sql`user_id = ${id}` },
    { table: 'session_totals', where: sql`user_id = ${id}` },
    { table: 'conversation_turns', where: inConversations },
    { table: 'conversations', where: sql`owner = ${id}` },
    { table: 'call_tags', where: ofCalls },
    { table: 'calls', where: sql`caller_id = ${id}`, empty: CALL_TEXTS, also: CLIENT_OF_ITS_OWN },
    { table: 'session_facts', where: sql`caller_id = ${id}` },
    { table: 'session_commits', where: sql`caller_id = ${id}` },
    { table: 'coding_sessions', where: sql`caller_id = ${id}` },
    { table: 'session_states', where: sql`caller_id = ${id}` },
    { table: 'spending', where: sql`owner >= ${inSessions} and owner < ${afterSessions}` },
    { table: 'allowances', where: sql`key_id = ${id}`, empty: { session: null } },
    { table: 'reviews', where: sql`caller_id = ${id}` },
    // Those under way are in use by the request that stores its reply there.
    { table: 'idempotency_keys', where: sql`scope = ${id} and in_flight_until is null` },
    { table: 'tasks', where: sql`creator = ${id}`, empty: { title: '', description: '' } },
    {
      table: 'task_capabilities',
      where: sql`task_id in (select id from tasks where claimed_by = ${id})`,
      empty: { agent: null },
    },
    { table: 'tasks', where: sql`claimed_by = ${id}`, empty: { agent: null } },
    { table: 'tasks', where: sql`claimed_by = ${id} and ${isPaid}`, empty: { result: null } },
    { table: 'escrows', where: sql`payer = ${id}`, empty: { reason: null } },
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
 * A key is revoked first. Requests that are under way go on, and what they still store is erased by {@link forgetSweep}.
 *
 * @param id of a key, or the address of a wallet that pays without one, in any case
 * @param deps.revoke revokes the key, if it is one
 * @param deps.knownMs time until all processes know of it, in milliseconds
 * @throws GazewayError `not_found` for an id that nothing is known of, `conflict` for the fixed key, and as `deps.revoke`
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
  if (id === ENVIRONMENT_IDENTITY.id)
    throw new GazewayError(
      'conflict',
      'The fixed key of the configuration cannot be forgotten: it stays valid, and nothing of its calls would be kept any more.',
      { param: 'id' },
    )
  const key = await store.db.selectFrom('keys').select('revoked_at').where('id', '=', id).executeTakeFirst()
  const caller = key === undefined ? await knownWallet(store, id) : id
  if (caller === null)
    throw new GazewayError('not_found', `There is no key ${id}, and no wallet of that address.`, { param: 'id' })
  const at = now().toISOString()
  if (key !== undefined) await revoke(caller)
  await store.db
    .insertInto('forgotten')
    .values({ id: caller, at })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  // Writes that have begun before the line above end meanwhile, and no process accepts the key any more.
  await pause(knownMs)
  return eraseTexts(store, caller, now().toISOString())
}

/**
 * Sweep that erases what was stored of forgotten callers afterwards: by requests that were under way, and by an erasure
 * that did not come to its end.
 */
export const forgetSweep = (store: Store, now: () => Date): Sweep => ({
  name: 'forget',
  everyMs: EVERY_MS,
  async batch() {
    const since = new Date(now().getTime() - AGAIN_MS).toISOString()
    const callers = await store.db.selectFrom('forgotten').select('id').where('at', '>', since).orderBy('id').execute()
    for (const { id } of callers) await eraseTexts(store, id, now().toISOString())
    return 0
  },
})

/** Erases the texts of a caller. @param now RFC 3339 UTC */
async function eraseTexts(store: Store, id: string, now: string): Promise<Erased> {
  const erased: Erased = {}
  const count = (table: RecordTable, rows: number) => {
    if (rows > 0) erased[table] = (erased[table] ?? 0) + rows
  }
  count('memories', await forgetWriter(store, id, now))
  count('gaze_packs', await forgetGaze(store, id))
  for (const erasure of erasures(id, now)) count(erasure.table, await erase(store, erasure))
  return erased
}

/** Finds a wallet that has paid or called. @returns its address in lower case; null for none */
async function knownWallet({ db }: Store, id: string): Promise<string | null> {
  const { data: address } = WalletAddress.safeParse(id)
  if (address === undefined) return null
  const found = await sql`select 1 from ledger_accounts where owner = ${address}
    union all select 1 from calls where caller_id = ${address} limit 1`.execute(db)
  return found.rows.length > 0 ? address : null
}

/** Erases the rows of one kind: found beside all writers, and erased in short transactions. @returns their number */
async function erase(store: Store, { table, where, empty, also }: Erasure): Promise<number> {
  const columns = RECORD_TABLES[table]
  const key = sql.join(columns.map((column) => sql.ref(column)))
  const filled = Object.entries(empty ?? {}).map(([column, value]) =>
    value === null ? sql`${sql.ref(column)} is not null` : sql`${sql.ref(column)} <> ${value}`,
  )
  const left = filled.length === 0 ? where : sql`${where} and (${sql.join(filled, sql` or `)})`
  const values = Object.entries(empty ?? {}).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
  if (also !== undefined) values.push(also)
  const isOne = (row: Record<string, unknown>) =>
    sql`(${sql.join(
      columns.map((column) => sql`${sql.ref(column)} = ${row[column]}`),
      sql` and `,
    )})`
  for (let erased = 0; ; ) {
    const { rows } = await sql<Record<string, unknown>>`
      select ${key} from ${sql.table(table)} where ${left} limit ${FOUND}`.execute(store.reads)
    const before = erased
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const these = sql.join(rows.slice(at, at + AT_ONCE).map(isOne), sql` or `)
      const statement =
        empty === undefined
          ? sql`delete from ${sql.table(table)} where ${these}`
          : sql`update ${sql.table(table)} set ${sql.join(values)} where ${these}`
      const { numAffectedRows } = await store.write((trx) => statement.execute(trx))
      erased += Number(numAffectedRows ?? 0)
    }
    if (rows.length < FOUND || erased === before) return erased
  }
}
