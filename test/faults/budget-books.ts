import { sql } from 'kysely'
import type { Store } from '../../src/store/store.ts'
import type { Micros } from '../../src/text/money.ts'

/** Reads what keys and groups have spent and reserved, of all time, as of one moment. */
export async function usedBy({ db }: Pick<Store, 'db'>, owners: readonly string[]): Promise<Map<string, Micros>> {
  const { rows } = await sql<{ owner: string; micros: number }>`select owner, sum(micros) as micros from (
      select owner, charged_micros + recorded_micros as micros from spending where day = 'total'
      union all select key_id, micros from allowances
      union all select group_id, micros from allowances where group_id is not null) as used
    where owner in (${sql.join(owners)}) group by owner`.execute(db)
  return new Map(rows.map(({ owner, micros }) => [owner, Number(micros)]))
}

/**
 * Reads the most that an owner may have spent and reserved from now on: its budget, or what it has used where that is
 * more. Waits for the reservations that are being made, which may still see the budget of before.
 */
export function maxCostOf(store: Store, owner: string): Promise<Micros> {
  return store.write(async (trx) => {
    const total = { owner, day: 'total', charged_micros: 0, recorded_micros: 0, beyond_micros: 0, forgiven_micros: 0 }
    await trx
      .insertInto('spending')
      .values(total)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await trx
      .selectFrom('spending')
      .select('owner')
      .where('owner', '=', owner)
      .where('day', '=', 'total')
      .forUpdate()
      .execute()
    const budget = await trx.selectFrom('budgets').select('micros').where('owner', '=', owner).executeTakeFirst()
    const used = (await usedBy({ db: trx }, [owner])).get(owner) ?? 0
    return Math.max(Number(budget?.micros ?? Infinity), used)
  })
}

export async function balanceOf({ db }: Store, account: string): Promise<Micros> {
  const row = await db
    .selectFrom('ledger_accounts')
    .select('balance_micros')
    .where('id', '=', account)
    .executeTakeFirst()
  return Number(row?.balance_micros ?? 0)
}

/** Reads what the operator bears of the calls of a key, of all time. */
export async function absorbedOf({ db }: Store, key: string): Promise<Micros> {
  const { micros } = await db
    .selectFrom('metered_calls')
    .select(({ fn }) => fn.sum<number | null>('absorbed_micros').as('micros'))
    .where('caller_id', '=', key)
    .executeTakeFirstOrThrow()
  return Number(micros ?? 0)
}

/** Receipts of a key, by the id of the call. */
export async function receiptsOf({ db }: Store, key: string): Promise<Map<string, Micros>> {
  const rows = await db
    .selectFrom('metered_calls')
    .select(['call_id', 'margin_micros', 'upstream_cost_micros'])
    .where('caller_id', '=', key)
    .execute()
  return new Map(rows.map((row) => [row.call_id, Number(row.margin_micros) + Number(row.upstream_cost_micros)]))
}
