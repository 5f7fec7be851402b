import type { Transaction } from 'kysely'
import { storeTime } from '../../store/clock.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import {
  EMPTY_WINDOW,
  type SharedWindow,
  type TurnResult,
  takeTurn,
  type WindowTerms,
  type WindowTurn,
} from './shared-window.ts'

/**
 * Applies a turn to the stored window of a key.
 *
 * @throws GazewayError `store_unavailable` or `store_full`
 */
export function exchangeTurn(store: Store, keyId: string, turn: WindowTurn, terms: WindowTerms): Promise<TurnResult> {
  return store.write(async (trx) => {
    const { state, at } = (await lockWindow(trx, store, keyId)) ?? (await newWindow(trx, store, keyId))
    const { window, result } = takeTurn(JSON.parse(state) as SharedWindow, turn, Date.parse(at), terms)
    await trx
      .updateTable('rate_windows')
      .set({ state: JSON.stringify(window) })
      .where('key_id', '=', keyId)
      .execute()
    return result
  })
}

/** Reads the window of a key with the store's time, and locks it. */
const lockWindow = (trx: Transaction<Schema>, { engine }: Store, keyId: string) =>
  trx
    .selectFrom('rate_windows')
    .select(['state', storeTime(engine).as('at')])
    .where('key_id', '=', keyId)
    .forUpdate()
    .executeTakeFirst()

/** Adds the window of a key, unless another process does so first, and locks it. */
async function newWindow(trx: Transaction<Schema>, store: Store, keyId: string) {
  await trx
    .insertInto('rate_windows')
    .values({ key_id: keyId, state: JSON.stringify(EMPTY_WINDOW) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const made = await lockWindow(trx, store, keyId)
  if (made === undefined) throw new Error(`The rate window of ${keyId} is gone.`)
  return made
}
