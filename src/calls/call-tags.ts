import type { Kysely, Transaction } from 'kysely'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { CallRecord } from './call-record.ts'

/** Most tags of a call, and most characters of one. Others are ignored. */
const MOST = { tags: 10, characters: 64 }
const PRINTABLE = /^[\x20-\x7e]+$/

/** Reads the tags in the header `x-gazeway-tags`, a list separated by commas. Undefined without any. */
export function tagsIn(header: string | string[] | undefined): readonly string[] | undefined {
  if (typeof header !== 'string' || header === '') return undefined
  const most = MOST.tags * (MOST.characters + 2)
  const said = header.slice(0, most).split(',')
  // A tag that is cut is none.
  if (header.length > most) said.pop()
  const tags = new Set(said.map((tag) => tag.trim()).filter(isTag))
  return tags.size === 0 ? undefined : [...tags].slice(0, MOST.tags)
}

const isTag = (tag: string): boolean => tag.length <= MOST.characters && PRINTABLE.test(tag)

/** Stores the tags of calls. Calls without tags cost nothing. */
export async function addTags(trx: Transaction<Schema>, records: readonly CallRecord[]): Promise<void> {
  const rows = records.flatMap(({ call_id, tags = [] }) => tags.map((tag) => ({ call_id, tag })))
  if (rows.length > 0)
    await runBuiltRows(trx, 'insert tags of calls', rows, (part) => trx.insertInto('call_tags').values(part).compile())
}

/** Reads the tags of a call, in order. */
export async function tagsOf(db: Kysely<Schema>, callId: string): Promise<string[]> {
  const rows = await db.selectFrom('call_tags').select('tag').where('call_id', '=', callId).orderBy('tag').execute()
  return rows.map(({ tag }) => tag)
}

/** Deletes the tags of calls that are deleted. */
export async function dropTags(trx: Transaction<Schema>, callIds: readonly string[]): Promise<void> {
  if (callIds.length > 0) await trx.deleteFrom('call_tags').where('call_id', 'in', callIds).execute()
}
