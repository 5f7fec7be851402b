import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { type DaySpent, debtBefore, debtBy, debtsSince, forgiven } from '../../src/wallet/budget/debts.ts'

const row = (day: string, micros: number, beyond_micros: number): DaySpent => ({
  ...{ owner: 'key_a', day, micros, beyond_micros, forgiven_micros: 0 },
})
const nth = (n: number) => new Date(Date.UTC(2026, 9, 1 + n)).toISOString().slice(0, 10)

it('holds all that was spent over any days within their budgets and the debt that is open', () => {
  const calls = fc.array(fc.record({ reserved: fc.nat(150), beyond: fc.nat(300) }), { minLength: 1, maxLength: 31 })
  fc.assert(
    fc.property(calls, fc.integer({ min: 1, max: 120 }), (days, micros) => {
      const budget = { owner: 'key_a', per: 'day' as const, micros }
      const spent: DaySpent[] = []
      for (const [n, { reserved, beyond }] of days.entries()) {
        const left = micros - debtBefore(spent, budget, nth(n))
        // A call is admitted when its reservation fits.
        if (reserved <= left) spent.push(row(nth(n), reserved + beyond, beyond))
      }
      const today = nth(days.length - 1)
      const all = spent.reduce((sum, of) => sum + of.micros, 0)
      assert.ok(all <= days.length * micros + debtBy(spent, budget, today))
      assert.ok(debtBy(spent, budget, today) <= spent.reduce((sum, of) => sum + of.beyond_micros, 0))
      for (const changed of forgiven(spent, [budget], today))
        Object.assign(spent.find(({ day }) => day === changed.day) as DaySpent, changed)
      assert.equal(debtBy(spent, budget, today), 0)
      assert.ok(spent.every((of) => of.forgiven_micros <= of.beyond_micros))
    }),
  )
})

it('counts a debt until later days have held it, and at most to the end of the next month', () => {
  const budget = { owner: 'key_a', per: 'day' as const, micros: 10 }
  const debts = (day: string) => debtBefore([row('2026-10-05', 1_000, 1_000)], budget, day)
  assert.deepEqual(['2026-10-05', '2026-10-06', '2026-10-07', '2026-11-30', '2026-12-01'].map(debts), [
    ...[0, 990, 980, 440, 0],
  ])
  assert.equal(debtsSince('2026-11-30'), '2026-10-01')
  assert.equal(debtsSince('2026-03-01'), '2026-02-01')
})

it('makes no debt of spending that was reserved, even where the budget is lowered', () => {
  const budget = { owner: 'key_a', per: 'week' as const, micros: 10 }
  const spent = [row('2026-11-18', 500, 3)]
  assert.equal(debtBefore(spent, budget, '2026-11-23'), 3)
  assert.equal(debtBefore(spent, { ...budget, micros: 498 }, '2026-11-23'), 2)
  assert.equal(debtBefore(spent, { ...budget, micros: 500 }, '2026-11-23'), 0)
})
