import { type Kysely, sql } from 'kysely'
import { distinctWords, indexedText, textOf } from '../../text/words.ts'
import type { Engine } from '../columns.ts'
import { fullTextOnSqlite } from './001_memory_and_calls.ts'
import { wordsOnSqlite } from './010_sessions.ts'

/** Rows that are read at a time: one memory may take half a megabyte. */
const BATCH = 200
/** Whether a text may have other words now: not where it is Latin with typographic signs. It saves most of the time. */
const MAY_DIFFER = /[^\0-\u036f\u2010-\u20cf\u2100-\u2bff]/
/** Splits at the spaces between our words alone, whatever a release of SQLite takes for a letter. */
const AT_SPACES = 'ascii'

/**
 * Marks are a part of their word, and words mean the same to both engines: SQLite, too, indexes them as they are written.
 * Texts that have other words now than when they were stored are written anew.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  // Rows are rewritten in less than a third of the time where no index is kept in step with them.
  if (engine === 'sqlite') await dropIndexes(db)
  await rewriteTexts(db, (text) => MAY_DIFFER.test(text))
  if (engine === 'sqlite') await createIndexes(db)
}

/** Writes the words of memories and sessions anew where they are others now; `mayDiffer` tells which texts are worth a look. */
export async function rewriteTexts(db: Kysely<unknown>, mayDiffer: (text: string) => boolean): Promise<void> {
  await inBatches(memoriesAfter(db), async (row) => {
    if (mayDiffer(row.key + row.value + row.tags)) await rewriteMemory(db, row)
  })
  await inBatches(sessionTextsAfter(db), async (row) => {
    if (row.said.some(mayDiffer)) await rewriteSessionText(db, row)
  })
}

const INDEXES = ['memories_text', 'session_words']

async function dropIndexes(db: Kysely<unknown>): Promise<void> {
  await sql`drop table memories_terms`.execute(db)
  for (const index of INDEXES) {
    for (const event of ['added', 'removed', 'changed'])
      await sql`drop trigger ${sql.ref(`${index}_${event}`)}`.execute(db)
    await sql`drop table ${sql.table(index)}`.execute(db)
  }
}

async function createIndexes(db: Kysely<unknown>): Promise<void> {
  await fullTextOnSqlite(db, AT_SPACES)
  await wordsOnSqlite(db, AT_SPACES)
  for (const index of INDEXES)
    await sql`insert into ${sql.table(index)} (${sql.ref(index)}) values ('rebuild')`.execute(db)
}

async function inBatches<Row extends { seq: number }>(
  read: (after: number) => Promise<Row[]>,
  rewrite: (row: Row) => Promise<void>,
): Promise<void> {
  let rows = await read(0)
  while (rows.length > 0) {
    for (const row of rows) await rewrite(row)
    rows = await read(rows.at(-1)?.seq ?? 0)
  }
}

interface MemoryTexts {
  seq: number
  key: string
  value: string
  tags: string
  key_text: string
  value_text: string
  tags_text: string
}

const memoriesAfter = (db: Kysely<unknown>) => async (after: number) => {
  const { rows } = await sql<MemoryTexts>`select seq, key, value, tags, key_text, value_text, tags_text
    from memories where seq > ${after} order by seq limit ${BATCH}`.execute(db)
  return rows
}

async function rewriteMemory(db: Kysely<unknown>, row: MemoryTexts): Promise<void> {
  const key_text = indexedText(row.key)
  const value_text = indexedText(textOf(JSON.parse(row.value)))
  const tags_text = indexedText(textOf(JSON.parse(row.tags)))
  if (key_text === row.key_text && value_text === row.value_text && tags_text === row.tags_text) return
  await sql`update memories set key_text = ${key_text}, value_text = ${value_text}, tags_text = ${tags_text}
    where seq = ${row.seq}`.execute(db)
}

interface SessionTexts {
  seq: number
  words_text: string
  /** The title, or what was said and the answer to it. */
  said: string[]
}

/** Looked up one by one: without statistics PostgreSQL would read all messages for each batch. */
const sessionTextsAfter =
  (db: Kysely<unknown>) =>
  async (after: number): Promise<SessionTexts[]> => {
    const { rows } = await sql<Omit<SessionTexts, 'said'> & { first: string | null; second: string | null }>`
      select t.seq, t.words_text,
        case when t.position = 0 then (select title from sessions where id = t.session_id)
          else (select content from session_messages where session_id = t.session_id and position = t.position) end as first,
        case when t.position > 0 then
          (select content from session_messages where session_id = t.session_id and position = t.position + 1) end as second
      from session_texts t
      where t.seq > ${after} order by t.seq limit ${BATCH}`.execute(db)
    return rows.map(({ first, second, ...row }) => ({ ...row, said: [first ?? '', second ?? ''] }))
  }

async function rewriteSessionText(db: Kysely<unknown>, { seq, words_text, said }: SessionTexts): Promise<void> {
  const words = distinctWords(...said).join(' ')
  if (words === words_text) return
  await sql`update session_texts set words_text = ${words} where seq = ${seq}`.execute(db)
}
