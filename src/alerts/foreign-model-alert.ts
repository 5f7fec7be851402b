import type { Store } from '../store/store.ts'
import { noteDaily } from './daily-message.ts'

/** An answer by a model that the list of its key lacks. */
export interface ForeignModel {
  callId: string
  callerId: string
  requested: string
  answered: string
}

/** Records in the outbox that a model answered which the key may not use: once a day for each key. */
export function noteForeignModel(store: Store, now: Date, of: ForeignModel): Promise<void> {
  const { callId, callerId, requested, answered } = of
  return noteDaily(store, now, {
    ...{ type: 'model.not_allowed', callerId },
    data: { call_id: callId, requested, answered },
  })
}
