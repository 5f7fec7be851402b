import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { quantize } from './quantized.ts'

/** A memory whose vector was made, at the version that it was made of. */
export interface Embedded {
  seq: number
  space: number
  version: number
  /** Null where its upstream has refused to make one. */
  vector: Float32Array | null
}

/** Identifies vectors that can be compared: the way they were made, and their length. */
export const sourceOf = (source: string, length: number): string => `${source}@${length}`

/** Keeps the vectors of memories that are still at their version. */
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
