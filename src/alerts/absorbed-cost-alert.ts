import type { Store } from '../store/store.ts'
import { type Micros, toUsd } from '../text/money.ts'
import { type AbsorbedCall, absorbedOn } from '../wallet/budget/absorbed-costs.ts'
import { dayOf } from '../wallet/budget/spending.ts'
import { noteDaily } from './daily-message.ts'

/**
 * Records in the outbox that the operator bears a part of a caller's calls: once a day, and once more when that has
 * reached the bound of the day.
 *
 * @param most bound of what is borne for a caller a day
 */
export async function noteAbsorbed(store: Store, now: Date, of: AbsorbedCall & { most: Micros }): Promise<void> {
  const { callId, callerId, model, micros, most } = of
  const absorbed = await absorbedOn(store, callerId, dayOf(now.toISOString()))
  const data = {
    ...{ call_id: callId, model, call_absorbed_usd: toUsd(micros) },
    ...{ absorbed_usd: toUsd(absorbed), absorbed_usd_per_day: toUsd(most) },
  }
  await noteDaily(store, now, { type: 'cost.absorbed', callerId, data })
  if (absorbed >= most) await noteDaily(store, now, { type: 'cost.absorbed_limit', callerId, data })
}
