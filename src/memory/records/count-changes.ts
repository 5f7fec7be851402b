import type { Selectable, Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { MemoryRow } from '../../store/tables/memory-tables.ts'
import { createWordChanges } from '../words/memory-words.ts'
import { unmarked } from '../words/placeholders.ts'
import { addToTotals, type Totals } from './memory-totals.ts'

/** Columns with the index words of a memory. */
export const TEXTS = ['key_text', 'value_text', 'tags_text', 'also_text'] as const

/** Columns of a memory that are counted. */
type Counted = Pick<Selectable<MemoryRow>, 'space' | 'namespace' | 'bytes' | 'words' | (typeof TEXTS)[number]>

/**
 * Changes of the totals and word counts within a transaction, collected to be written in one order. A transaction has one
 * collection for all its memories: two that wrote their counts memory by memory would deadlock.
 */
export interface CountChanges {
  /** A memory comes to be stored. */
  add(row: Counted): void
  /** A memory is deleted. */
  take(row: Counted): void
  /** Writes them, as the last thing in a transaction: those that share a count wait for each other from here on. */
  write(trx: Transaction<Schema>): Promise<void>
}

/** Creates an empty set of changes. */
export function createCountChanges(): CountChanges {
  const words = createWordChanges()
  const sums = new Map<string, Totals>()

  function change({ space, namespace, bytes, words }: Counted, by: number): void {
    const id = `${space} ${namespace}`
    const sum = sums.get(id) ?? { space, namespace, memories: 0, bytes: 0, words: 0 }
    sums.set(id, {
      ...sum,
      memories: sum.memories + by,
      bytes: sum.bytes + by * bytes,
      words: sum.words + by * words,
    })
  }

  return {
    add(row) {
      change(row, 1)
      words.add(row.space, wordsOf(row))
    },
    take(row) {
      change(row, -1)
      words.take(row.space, wordsOf(row))
    },
    async write(trx) {
      for (const [, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) await addToTotals(trx, sum)
      await words.write(trx)
    },
  }
}

/** Distinct index words of a memory. */
const wordsOf = (row: Counted): Set<string> =>
  unmarked(
    row.space,
    TEXTS.map((column) => row[column]),
  )
