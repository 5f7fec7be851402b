import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { PERIOD_NAMES, periodOf } from '../../src/text/period.ts'

const Day = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }).map(textOf)

it('every day is in one period of each kind, and the next one begins on the day after its last', () => {
  fc.assert(
    fc.property(Day, fc.constantFrom(...PERIOD_NAMES), (day, per) => {
      const { from, to, resetsAt } = periodOf(per, day)
      if (resetsAt === null) return
      assert.ok(from <= day && day <= to, `${from} ${day} ${to}`)
      assert.equal(textOf(new Date(Date.parse(to) + 86_400_000)), resetsAt.slice(0, 10))
      assert.equal(periodOf(per, resetsAt.slice(0, 10)).from, resetsAt.slice(0, 10))
      for (const end of [from, to]) assert.deepEqual(periodOf(per, end), { from, to, resetsAt })
    }),
  )
})

function textOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
