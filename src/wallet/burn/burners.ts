import type { Kysely } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { periodOf } from '../../text/period.ts'
import { unspentOf } from '../budget/budgets.ts'
import { type DaySpent, debtBefore, debtsSince } from '../budget/debts.ts'
import { dayOf, readSpending } from '../budget/spending.ts'
import { accountOf } from '../ledger/accounts.ts'
import type { Bound } from './burn-bounds.ts'

/** Owners per statement; database engines limit the parameters of one. */
const AT_ONCE = 500

/** Reads valid keys and groups, the remaining amounts of their budgets, and the balances of charged keys. */
export async function readBurners({ reads: db }: Pick<Store, 'reads'>, now: Date) {
  const at = now.toISOString()
  const [keys, groups, budgets] = await Promise.all([
    db
      .selectFrom('keys')
      .select(['id', 'name', 'group_id', 'billing', 'credit_limit_micros'])
      .where('revoked_at', 'is', null)
      .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
      .execute(),
    db.selectFrom('key_groups').select(['id', 'name']).execute(),
    db.selectFrom('budgets').selectAll().execute(),
  ])
  const owners = [...new Set(budgets.map(({ owner }) => owner))]
  const day = dayOf(at)
  const spent = new Map<string, DaySpent[]>()
  for (const part of partsOf(owners))
    for (const row of await readSpending(db, part, debtsSince(day)))
      spent.set(row.owner, [...(spent.get(row.owner) ?? []), row])
  const bounds = new Map<string, Bound[]>()
  for (const budget of budgets) {
    const { owner, per, micros } = budget
    const rows = spent.get(owner) ?? []
    const debt = rows.some(({ beyond_micros }) => beyond_micros > 0) ? debtBefore(rows, budget, day) : 0
    const left = unspentOf(budget, rows, { keyId: owner.startsWith('grp_') ? null : owner, day, debt })
    const bound = { owner, left, budget: { per, micros, resetsAt: periodOf(per, day).resetsAt } }
    bounds.set(owner, [...(bounds.get(owner) ?? []), bound])
  }
  const charged = keys.filter(({ billing }) => billing !== 'recorded').map(({ id }) => id)
  return {
    keys,
    groups,
    boundsOf: (owner: string): readonly Bound[] => bounds.get(owner) ?? [],
    available: await readAvailable(db, charged),
  }
}

/** Reads the balances of keys; keys without an account are absent. */
async function readAvailable(db: Kysely<Schema>, ids: readonly string[]): Promise<Map<string, Micros>> {
  const available = new Map<string, Micros>()
  for (const part of partsOf(ids)) {
    const accounts = part.map((id) => accountOf('caller', id).id)
    const query = db.selectFrom('ledger_accounts').select(['owner', 'balance_micros']).where('id', 'in', accounts)
    for (const { owner, balance_micros } of await query.execute()) available.set(owner, balance_micros)
  }
  return available
}

function partsOf(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, i) => ids.slice(i * AT_ONCE, (i + 1) * AT_ONCE))
}
