import { type Kysely, sql } from 'kysely'
import { PAGE_BYTES } from '../../store/page.ts'
import { runPrepared } from '../../store/prepared-sql.ts'
import { widthOf } from '../../store/row-bytes.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import { jsonBytes } from '../../text/json-bytes.ts'
import { textOf } from '../../text/words.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { type Memory, toMemory } from '../records/memory-record.ts'
import { excerpt } from './memory-excerpt.ts'
import type { Hit } from './memory-search.ts'

/** Bytes of found memories that are read at once. */
const READ_BYTES = 512 * 1024

/** A hit to read. */
export interface RankedHit extends Hit {
  /** It is below the floor. */
  isWeak: boolean
}

/** One memory that a search found. */
export interface MemoryResult {
  memory: Memory
  /** In (0, 1]: how well it matches the query; comparable between queries. */
  score: number
  /** It has some words of the query, but too few to be an answer. */
  weak: boolean
  /** Part of the value around the first match, on one line. */
  excerpt: string
}

/**
 * Reads the best results that fit on a page. Small ones are read at once, large ones in parts: a value can have 256 KiB,
 * and its excerpt takes time.
 */
export async function readResults(
  of: Pick<Store, 'db' | 'engine'>,
  space: number,
  {
    hits,
    spellings,
    excerptLength,
  }: { hits: readonly RankedHit[]; spellings: readonly string[]; excerptLength?: number | undefined },
): Promise<MemoryResult[]> {
  if (hits.length === 0) return []
  const found: MemoryResult[] = []
  const rows = await readRows(of, space, hits)
  const large = partsOf(hits, rows)
  let bytes = 0
  for (const { seq, score, isWeak } of hits) {
    await yieldToEventLoop()
    const row = rows.get(seq)
    // Another process may have deleted it after the search.
    if (!row) continue
    if (row.value === null) await addValues(of.db, rows, large.shift())
    if (row.value === null) continue
    const memory = toMemory({ ...row, value: row.value })
    bytes += jsonBytes(memory)
    if (found.length > 0 && bytes > PAGE_BYTES) return found
    found.push({ memory, score, weak: isWeak, excerpt: excerpt(textOf(memory.value), spellings, excerptLength) })
  }
  return found
}

/** A row of a result. Its value is null until it is read, where it is large. */
type ResultRow = Parameters<typeof toMemory>[0] & { seq: number; bytes: number }
type Rows = ReadonlyMap<number, Omit<ResultRow, 'value'> & { value: string | null }>

/** Reads the rows of hits, without values that are larger than the share of each. */
async function readRows(
  { db, engine }: Pick<Store, 'db' | 'engine'>,
  space: number,
  hits: readonly Hit[],
): Promise<Rows> {
  const width = widthOf(engine, ['value', 'tags'])
  const small = sql<string | null>`case when ${width} <= ${Math.floor(READ_BYTES / hits.length)} then value end`
  const query = db
    .selectFrom('memories')
    .select(['seq', 'id', 'key', 'namespace', 'project', 'tags', 'written_by', 'version'])
    .select(['created_at', 'updated_at', 'expires_at', width.as('bytes'), small.as('value')])
    .where('space', '=', space)
    .where('seq', 'in', seqsOf(hits))
    .compile()
  const { rows } = await runPrepared(db, query)
  return new Map(rows.map((row) => [row.seq, row]))
}

/** Splits the hits without a value into parts that may be read at once, in order. */
function partsOf(hits: readonly RankedHit[], rows: Rows): RankedHit[][] {
  const parts: RankedHit[][] = []
  let room = 0
  for (const hit of hits) {
    const row = rows.get(hit.seq)
    if (row?.value !== null) continue
    if (parts.length === 0 || row.bytes > room) {
      parts.push([])
      room = READ_BYTES
    }
    parts.at(-1)?.push(hit)
    room -= row.bytes
  }
  return parts
}

/** Reads the values of a part. After a deletion there are fewer values than parts were made for. */
async function addValues(db: Kysely<Schema>, rows: Rows, part: readonly Hit[] = []): Promise<void> {
  // PostgreSQL has no empty list.
  if (part.length === 0) return
  const values = await db.selectFrom('memories').select(['seq', 'value']).where('seq', 'in', seqsOf(part)).execute()
  for (const { seq, value } of values) {
    const row = rows.get(seq)
    if (row) row.value = value
  }
}

const seqsOf = (hits: readonly Hit[]): number[] => hits.map(({ seq }) => seq)
