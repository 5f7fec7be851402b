import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { canonicalJson, contentHash, type ShapeStep, shapeStep } from './fingerprint.ts'
import { inOrder } from './scanpath.ts'
import { type GazeTensor, readTensor } from './tensor.ts'

/** A tensor with the values that are computed from it alone. */
export interface ReadyRecord {
  tensor: GazeTensor
  /** Canonical JSON, from `canonicalJson`. */
  json: string
  content: number
  step: ShapeStep
}

/** Key of a tensor in its session. Tensors with the same key are duplicates. */
export const keyOf = ({ at, source }: { at: string; source: string }): string => `${at} ${source}`

/**
 * Prepares a batch for storing: in order of time, without duplicates. It yields to the event loop, so run it before the
 * transaction: on SQLite, a transaction blocks all other callers of the store.
 */
export async function readyRecords(tensors: readonly GazeTensor[]): Promise<ReadyRecord[]> {
  const fresh = new Map<string, GazeTensor>()
  for (const tensor of tensors) {
    const key = keyOf(tensor)
    if (!fresh.has(key)) fresh.set(key, tensor)
  }
  const ready: ReadyRecord[] = []
  for (const tensor of inOrder([...fresh.values()])) {
    await yieldToEventLoop()
    const json = canonicalJson(tensor)
    // A plain copy: nothing of what was sent is read again in the transaction.
    const copy = readTensor(json)
    ready.push({ tensor: copy, json, content: contentHash(json), step: shapeStep(copy) })
  }
  return ready
}
