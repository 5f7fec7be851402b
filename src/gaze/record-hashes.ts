import type { Transaction } from 'kysely'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { printOf } from './fingerprint.ts'

/** Hashes of a record, from `contentHash` and `shapeHashes`. */
export interface Print {
  content: number
  shape: number | null
}

/** Hashes per statement. */
const CHUNK = 200

/** Number that stands for a session beside hashes: 52 bits of its SHA-256. */
export const sessionPrint = (sessionId: string): number => printOf(`session ${sessionId}`)

/**
 * Stores the hashes of contents and shapes as this session's, unless another session stored them before. The first to
 * store a hash has the original, even when two sessions store it at once.
 *
 * @returns the contents and the shapes that another session has
 */
export async function claimPrints(
  trx: Transaction<Schema>,
  sessionId: string,
  prints: readonly Print[],
): Promise<{ contents: Set<number>; shapes: Set<number> }> {
  const session = sessionPrint(sessionId)
  // Sorted, so that two sessions rarely wait for each other.
  const sorted = prints.toSorted((one, other) => (one.shape ?? 0) - (other.shape ?? 0) || one.content - other.content)
  const found = { contents: new Set<number>(), shapes: new Set<number>() }
  for (let from = 0; from < sorted.length; from += CHUNK) {
    await yieldToEventLoop()
    const part = sorted.slice(from, from + CHUNK)
    const refused = await insert(trx, part, session)
    // Some other row has the content or the shape: each that has none is stored alone.
    const alone = refused.flatMap(({ content, shape }) => [
      { content, shape: null },
      ...(shape === null ? [] : [{ content: -shape, shape }]),
    ])
    const taken = new Set((await insert(trx, alone, session)).map(({ content }) => content))
    if (taken.size === 0) continue
    const elsewhere = await trx
      .selectFrom('gaze_prints')
      .select(['content', 'shape'])
      .where('session', '<>', session)
      .where(({ or, eb }) =>
        or([
          eb(
            'content',
            'in',
            part.map(({ content }) => content),
          ),
          eb('shape', 'in', [-1, ...part.flatMap(({ shape }) => (shape === null ? [] : [shape]))]),
        ]),
      )
      .execute()
    for (const { content, shape } of elsewhere) {
      found.contents.add(content)
      if (shape !== null) found.shapes.add(shape)
    }
  }
  return found
}

/** Inserts rows whose content and shape no row has. @returns the others */
async function insert(trx: Transaction<Schema>, prints: readonly Print[], session: number): Promise<Print[]> {
  const rows = prints.map(({ content, shape }) => ({ content, shape, session }))
  const inserted = await runBuiltRows(trx, 'claim gaze prints', rows, (part) =>
    trx
      .insertInto('gaze_prints')
      .values(part)
      .onConflict((conflict) => conflict.doNothing())
      .returning('content')
      .compile(),
  )
  const stored = new Set(inserted.map(({ content }) => content))
  return prints.filter(({ content }) => !stored.delete(content))
}

/** Deletes hashes of a session. */
export async function deletePrints(
  trx: Transaction<Schema>,
  sessionId: string,
  prints: readonly Print[],
): Promise<void> {
  const session = sessionPrint(sessionId)
  const contents = prints.flatMap(({ content, shape }) => (shape === null ? [content] : [content, -shape]))
  for (let from = 0; from < contents.length; from += CHUNK)
    await trx
      .deleteFrom('gaze_prints')
      .where('content', 'in', contents.slice(from, from + CHUNK))
      .where('session', '=', session)
      .execute()
}
