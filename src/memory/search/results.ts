import type { Kysely } from 'kysely'
import { PAGE_BYTES } from '../../store/page.ts'
import { widthOf } from '../../store/row-bytes.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import { jsonBytes } from '../../text/json-bytes.ts'
import { textOf } from '../../text/words.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { MEMORY_COLUMNS, type Memory, toMemory } from '../records/memory-record.ts'
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

/** Reads the best results that fit on a page, in parts: a value can have 256 KiB, and its excerpt takes time. */
export async function readResults(
  { db, engine }: Pick<Store, 'db' | 'engine'>,
  space: number,
  {
    hits,
    spellings,
    excerptLength,
  }: { hits: readonly RankedHit[]; spellings: readonly string[]; excerptLength?: number | undefined },
): Promise<MemoryResult[]> {
  const found: MemoryResult[] = []
  let bytes = 0
  for (const part of await partsOf({ db, engine }, hits)) {
    const rows = await rowsOf(db, space, part)
    for (const { seq, score, isWeak } of part) {
      await yieldToEventLoop()
      const row = rows.get(seq)
      // Another process may have deleted it after the search.
      if (!row) continue
      const memory = toMemory(row)
      bytes += jsonBytes(memory)
      if (found.length > 0 && bytes > PAGE_BYTES) return found
      found.push({ memory, score, weak: isWeak, excerpt: excerpt(textOf(memory.value), spellings, excerptLength) })
    }
  }
  return found
}

/** Splits hits into parts that may be read at once, in order. */
async function partsOf(
  { db, engine }: Pick<Store, 'db' | 'engine'>,
  hits: readonly RankedHit[],
): Promise<RankedHit[][]> {
  if (hits.length === 0) return []
  const width = widthOf(engine, ['value', 'tags']).as('bytes')
  const sizes = await db.selectFrom('memories').select(['seq', width]).where('seq', 'in', seqsOf(hits)).execute()
  const bytesOf = new Map(sizes.map(({ seq, bytes }) => [seq, bytes]))
  const parts: RankedHit[][] = []
  let room = 0
  for (const hit of hits) {
    const bytes = bytesOf.get(hit.seq) ?? 0
    if (parts.length === 0 || bytes > room) {
      parts.push([])
      room = READ_BYTES
    }
    parts.at(-1)?.push(hit)
    room -= bytes
  }
  return parts
}

async function rowsOf(db: Kysely<Schema>, space: number, hits: readonly Hit[]) {
  const of = db.selectFrom('memories').where('space', '=', space).where('seq', 'in', seqsOf(hits))
  const rows = await of.select(['seq', ...MEMORY_COLUMNS]).execute()
  return new Map(rows.map((row) => [row.seq, row]))
}

const seqsOf = (hits: readonly Hit[]): number[] => hits.map(({ seq }) => seq)
