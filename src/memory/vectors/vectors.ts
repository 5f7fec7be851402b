import type { Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import { quantize } from './quantized.ts'

/** A new vector of a memory, and the version that it was made from. */
export interface Embedded {
  seq: number
  space: number
  version: number
  /** Null when the upstream refused the text. */
  vector: Float32Array | null
}

/** Identifies vectors that can be compared: the way they were made, and their length. */
export const sourceOf = (source: string, length: number): string => `${source}@${length}`

/** Stores the vectors of memories whose version is unchanged. */
export async function keepVectors(
  trx: Transaction<Schema>,
  source: string,
  embedded: readonly Embedded[],
): Promise<void> {
  for (const { seq, space, version, vector } of embedded) {
    const same = await trx
      .updateTable('memories')
      .set({ embedded: source })
      .where('seq', '=', seq)
      .where('version', '=', version)
      .returning('seq')
      .executeTakeFirst()
    if (!same) continue
    await forgetVectors(trx, [seq])
    if (vector !== null)
      await trx
        .insertInto('memory_vectors')
        .values({ seq, space, source, ...quantize(vector) })
        .execute()
  }
}

/** Deletes the vectors of memories. */
export async function forgetVectors(trx: Transaction<Schema>, seqs: readonly number[]): Promise<void> {
  await trx.deleteFrom('memory_vectors').where('seq', 'in', seqs).execute()
}
