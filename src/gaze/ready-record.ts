import { giveWay } from '../wire/give-way.ts'
import { canonicalJson, contentHash, type ShapeStep, shapeStep } from './fingerprint.ts'
import { inOrder } from './scanpath.ts'
import type { GazeTensor } from './tensor.ts'

/** A tensor with all that follows from it alone. */
export interface ReadyRecord {
  tensor: GazeTensor
  /** As `canonicalJson` gives it. */
  json: string
  content: string
  step: ShapeStep
}

/** Two tensors with the same key are duplicates, in one session. */
export const keyOf = ({ at, source }: { at: string; source: string }): string => `${at} ${source}`

/**
 * Makes a batch ready to be stored, in order of time, without the duplicates within it. It gives way, and belongs before
 * the transaction: on SQLite, a transaction keeps everyone else from the store.
 */
export async function readyRecords(tensors: readonly GazeTensor[]): Promise<ReadyRecord[]> {
  const fresh = new Map<string, GazeTensor>()
  for (const tensor of tensors) {
    const key = keyOf(tensor)
    if (!fresh.has(key)) fresh.set(key, tensor)
  }
  const ready: ReadyRecord[] = []
  for (const tensor of inOrder([...fresh.values()])) {
    await giveWay()
    const json = canonicalJson(tensor)
    ready.push({ tensor, json, content: contentHash(json), step: shapeStep(tensor) })
  }
  return ready
}
