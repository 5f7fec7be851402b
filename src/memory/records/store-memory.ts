import { type Selectable, sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import type { MemoryRow } from '../../store/tables/memory-tables.ts'
import { newId } from '../../text/ids.ts'
import { textOf } from '../../text/words.ts'
import { forgetVectors } from '../vectors/vectors.ts'
import { indexedWords, MAX_INDEXED_WORDS } from '../words/indexed-words.ts'
import { marked } from '../words/placeholders.ts'
import { type CountChanges, createCountChanges } from './count-changes.ts'
import { deleteMemories, REMOVED, type Removed, sweepExpired } from './memory-expiry.ts'
import { describePlace, generalNote, isAt, type Place } from './memory-place.ts'
import { type Memory, type MemoryInput, toMemory } from './memory-record.ts'
import { keepVersion } from './memory-versions.ts'
import { supersede } from './supersede.ts'
import { type Caller, isTrustedBy, THIS_MACHINE } from './trusted-writers.ts'

/** Expired memories that each store deletes. More than it adds, so that they cannot accumulate. */
const SWEPT = 8
type Existing = Removed &
  Pick<Selectable<MemoryRow>, 'embedded' | 'version' | 'created_at' | 'tags' | 'also'> & {
    /** 1 when the caller trusts its writer, else 0. */
    trusted: number
  }

/** The version before. */
type Last = Pick<MemoryRow, 'id' | 'version' | 'created_at'>

/** A memory to store. The counts of several are collected in `changes`. */
interface Keeping {
  space: number
  input: MemoryInput
  now: string
  caller: Caller
  changes: CountChanges
}

/** A memory that was stored. */
export interface Kept {
  memory: Memory
  /** True for a new key. */
  created: boolean
  /** See `Unindexed`. */
  unindexed?: number | undefined
}

/**
 * Stores a memory in a space within `trx`: a new memory, or the next version of the one under the same key of the same
 * project. An expired memory counts as missing, so its key starts again at version 1. Some other expired memories are deleted.
 *
 * @param now RFC 3339 UTC with milliseconds
 * @param caller its writer. Tags and `also` of a writer that it does not trust are not kept
 * @throws GazewayError `version_conflict` when the memory is not at `input.if_version`; the errors of `supersede`
 */
export async function keepMemory(
  trx: Transaction<Schema>,
  space: number,
  input: MemoryInput,
  now: string,
  caller: Caller = THIS_MACHINE,
): Promise<Kept> {
  const changes = createCountChanges()
  const kept = await keepCounted(trx, { space, input, now, caller, changes })
  await changes.write(trx)
  return kept
}

/** Stores as `keepMemory` one of several memories; the counts of all are written together after the last. */
export async function keepCounted(
  trx: Transaction<Schema>,
  { space, input, now, caller, changes }: Keeping,
): Promise<Kept> {
  await sweepExpired(trx, { now, limit: SWEPT, changes })
  for (;;) {
    const existing = await liveOrNothing(trx, { space, input, now, caller, changes })
    await checkVersion(trx, placeOf(space, input), input.if_version, existing?.version ?? 0)
    const { row, unindexed } = compose({
      space,
      input,
      existing,
      last: existing ?? (await lastSuperseded(trx, placeOf(space, input))),
      now,
      writer: caller.id,
    })
    if (existing) await keepVersion(trx, existing, null)
    if (existing && existing.embedded !== '') await forgetVectors(trx, [existing.seq])
    const seq = existing ? await replace(trx, existing.seq, row) : await add(trx, row)
    // Another process stored the key after the lookup: retry, now that it exists.
    if (seq === undefined) continue
    await tag(trx, seq, row, existing !== undefined)
    await supersede(trx, { space, input, now, changes })
    if (existing) changes.take(existing)
    changes.add(row)
    return { memory: toMemory(row), created: !existing, ...(unindexed > 0 && { unindexed }) }
  }
}

async function tag(
  trx: Transaction<Schema>,
  seq: number,
  { tags, space, namespace, updated_at }: Omit<MemoryRow, 'seq'>,
  replaced: boolean,
): Promise<void> {
  if (replaced) await trx.deleteFrom('memory_tags').where('seq', '=', seq).execute()
  const rows = (JSON.parse(tags) as string[]).map((name) => ({ seq, tag: name, space, namespace, updated_at }))
  if (rows.length > 0) await trx.insertInto('memory_tags').values(rows).execute()
}

async function liveOrNothing(
  trx: Transaction<Schema>,
  { space, input, now, caller, changes }: Keeping,
): Promise<Existing | undefined> {
  const existing = await trx
    .selectFrom('memories')
    .select([...REMOVED, 'embedded', 'version', 'created_at', 'tags', 'also', 'expires_at'])
    .select(sql<number>`case when ${isTrustedBy(caller)} then 1 else 0 end`.as('trusted'))
    .where(isAt(placeOf(space, input)))
    .forUpdate()
    .executeTakeFirst()
  if (!existing || existing.expires_at === null || existing.expires_at > now) return existing
  await deleteMemories(trx, [existing], changes)
  return undefined
}

const placeOf = (space: number, { namespace, key, project = null }: MemoryInput): Place => ({
  space,
  namespace,
  key,
  project,
})

async function checkVersion(
  trx: Transaction<Schema>,
  place: Place,
  expected: number | undefined,
  version: number,
): Promise<void> {
  if (expected === undefined || expected === version) return
  const state = version === 0 ? 'does not exist' : `is at version ${version}`
  const note = version === 0 ? await generalNote(trx, place) : ''
  throw new GazewayError(
    'version_conflict',
    `Memory ${describePlace(place)} ${state}, not at version ${expected}.${note} Recall it and decide again.`,
    { param: 'if_version' },
  )
}

/** Reads the last version of a superseded memory: one that is stored there again is the same memory. */
function lastSuperseded(trx: Transaction<Schema>, place: Place): Promise<Last | undefined> {
  return trx
    .selectFrom('memory_versions')
    .select(['id', 'version', 'created_at'])
    .where(isAt(place))
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
}

function compose({
  space,
  input,
  existing,
  last,
  now,
  writer,
}: {
  space: number
  input: MemoryInput
  existing: Existing | undefined
  last: Last | undefined
  now: string
  writer: string | null
}): { row: Omit<MemoryRow, 'seq'>; unindexed: number } {
  const { namespace, key, ttl_seconds: ttl } = input
  const value = JSON.stringify(input.value)
  // Else text of a writer that is not trusted would stand beside the value of one that is.
  const labels = existing?.trusted === 1 ? existing : undefined
  const tags = input.tags ? JSON.stringify([...new Set(input.tags)]) : (labels?.tags ?? '[]')
  const also = input.also ? JSON.stringify([...new Set(input.also)]) : (labels?.also ?? '[]')
  const { words, unindexed } = upTo(MAX_INDEXED_WORDS, indexedWords(textOf(input.value)))
  const text = (found: readonly string[]) => marked(space, found.join(' '))
  const row = {
    id: last?.id ?? newId('mem'),
    space,
    project: input.project ?? null,
    namespace,
    key,
    value,
    tags,
    also,
    bytes: Buffer.byteLength(key) + Buffer.byteLength(value) + Buffer.byteLength(tags),
    words: words.length,
    embedded: '',
    written_by: writer,
    version: 1 + (last?.version ?? 0),
    created_at: last?.created_at ?? now,
    updated_at: now,
    expires_at: ttl === undefined ? null : new Date(Date.parse(now) + ttl * 1000).toISOString(),
    key_text: text(indexedWords(key)),
    value_text: text(words),
    tags_text: text(indexedWords(textOf(JSON.parse(tags)))),
    also_text: text(indexedWords(textOf(JSON.parse(also)))),
  }
  return { row, unindexed }
}

/** Drops the words beyond the first `most` distinct ones, and counts these. */
function upTo(most: number, all: readonly string[]): { words: string[]; unindexed: number } {
  const distinct = new Set<string>()
  const words = all.filter((word) => distinct.has(word) || (distinct.size < most && distinct.add(word)))
  if (words.length === all.length) return { words, unindexed: 0 }
  return { words, unindexed: new Set(all).size - distinct.size }
}

async function add(trx: Transaction<Schema>, row: Omit<MemoryRow, 'seq'>): Promise<number | undefined> {
  const added = await trx
    .insertInto('memories')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('seq')
    .executeTakeFirst()
  return added?.seq
}

async function replace(trx: Transaction<Schema>, seq: number, row: Omit<MemoryRow, 'seq'>): Promise<number> {
  const { id, space, project, namespace, key, created_at, ...changed } = row
  await trx.updateTable('memories').set(changed).where('seq', '=', seq).execute()
  return seq
}
