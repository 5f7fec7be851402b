import assert from 'node:assert/strict'
import type { Store } from '../../src/store/store.ts'
import type { Micros } from '../../src/text/money.ts'
import { PERIOD_NAMES } from '../../src/text/period.ts'
import { spentAndOwed } from '../../src/wallet/budget/open-debts.ts'
import { isIn, type Spend } from '../../src/wallet/budget/spending.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { buildStatement } from '../../src/wallet/statements/build-statement.ts'
import { type Earlier, GROUPS, THIEVES, type ThiefName } from './thieves.ts'

/** An owner of budgets, and the thieves whose calls it counts. */
interface Owner {
  name: string
  id: string
  thieves: ReadonlyArray<{ name: ThiefName; id: string }>
  budgets: (typeof GROUPS)['kept']
  /** True when its provider reports more than was reserved. */
  isOverrun: boolean
  carriedMicros: Micros
}

/** Results of a run. */
export interface ThiefRun {
  day: string
  earlier: readonly Earlier[]
  billed: ReadonlyMap<ThiefName, Micros>
  keys: ReadonlyMap<ThiefName, string>
  groups: ReadonlyMap<keyof typeof GROUPS, string>
}

/**
 * Compares what the provider billed with what is counted, presumed, owed and stated, for each key and group in each period.
 */
export async function checkBooks(store: Store, { day, earlier, billed, keys, groups }: ThiefRun): Promise<void> {
  const thief = (name: ThiefName) => ({ name, id: keys.get(name) as string })
  const owners: Owner[] = [
    ...THIEVES.map(({ name, group, terms, carriedMicros = 0 }) => ({
      ...thief(name),
      carriedMicros,
      thieves: [thief(name)],
      budgets: terms.limits?.budgets ?? [],
      isOverrun: group === 'overrun',
    })),
    ...[...groups].map(([name, id]) => ({
      ...{ name: `group ${name}`, id, budgets: GROUPS[name], isOverrun: name === 'overrun', carriedMicros: 0 },
      thieves: THIEVES.filter(({ group }) => group === name).map((one) => thief(one.name)),
    })),
  ]
  const noon = new Date(`${day}T12:00:00.000Z`)
  const all = await spentAndOwed(store, () => 0)(
    owners.map(({ id }) => id),
    noon,
  )
  for (const { name, id, thieves, budgets, isOverrun, carriedMicros } of owners) {
    const { debt = 0, presumed = 0, ...spend } = all.get(id) as Spend & { debt?: Micros; presumed?: Micros }
    const bill = thieves.reduce((sum, one) => sum + (billed.get(one.name) ?? 0), 0)
    const before = (per: keyof typeof spend) =>
      earlier
        .filter((one) => thieves.some((of) => of.name === one.thief) && isIn(one.day, per, day))
        .reduce((sum, { micros }) => sum + micros, 0)
    const counted = spend.day
    const found = `${name}: billed ${bill}, counted ${counted}, presumed ${presumed}, owed ${debt}`
    assert.ok(bill > 0, found)
    assert.ok(bill <= counted + presumed, found)
    assert.ok(counted <= bill, `${found}: a call counted twice`)
    for (const per of PERIOD_NAMES) {
      const earlierMicros = per === 'total' ? sumOf(earlier, thieves) : before(per)
      assert.equal(spend[per], earlierMicros + counted, `${found} per ${per}`)
    }
    for (const { usd, per } of budgets) {
      const most = Math.round(usd * 1e6)
      const used = spend[per] + presumed + carriedMicros
      assert.ok(used <= most + (isOverrun ? debt : 0), `${found}, ${used} of ${most} per ${per}`)
    }
    if (isOverrun && name !== 'borne') assert.ok(debt > 0, found)
    const callers = thieves.map((one) => one.id)
    const { totals } = await buildStatement(store, day, { kind: 'group', id, callers })
    const stated = totals.recorded_usd + totals.absorbed_usd - totals.upstream_cost_usd
    assert.equal(Math.round(stated * 1e6), counted, `${found}, stated ${JSON.stringify(totals)}`)
  }
  assert.deepEqual((await verifyLedger(store)).faults, [])
  assert.deepEqual(await callFaults(store), [])
}

const sumOf = (earlier: readonly Earlier[], thieves: Owner['thieves']): Micros =>
  earlier.filter(({ thief }) => thieves.some(({ name }) => name === thief)).reduce((sum, { micros }) => sum + micros, 0)
