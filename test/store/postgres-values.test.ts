import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isCanceled, isConnectionLoss, mayRunAgain, storeError } from '../../src/store/postgres/postgres-errors.ts'
import { toTime } from '../../src/store/postgres/postgres-values.ts'

describe('values of PostgreSQL', () => {
  it('are times in UTC with milliseconds, in whatever zone and precision they come', () => {
    const time = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
    fc.assert(
      fc.property(time, fc.integer({ min: -12 * 60, max: 14 * 60 }), (at, minutes) => {
        const local = new Date(at.getTime() + minutes * 60_000).toISOString()
        const sign = minutes < 0 ? '-' : '+'
        const [hour, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
        const offset = `${sign}${String(hour).padStart(2, '0')}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`
        // PostgreSQL leaves out zeros at the end of the fraction, and a fraction that is zero.
        const written = `${local.slice(0, 10)} ${local.slice(11, 19)}${local.slice(19, 23).replace(/\.?0*$/, '')}`
        assert.equal(toTime(`${written}${offset}`), at.toISOString())
      }),
    )
    assert.equal(toTime('2026-11-21 08:17:52.5+01'), '2026-11-21T07:17:52.500Z')
    assert.equal(toTime('1970-01-01 00:00:00+00'), new Date(0).toISOString())
    assert.equal(toTime('2026-11-21 12:47:52.123+05:30'), '2026-11-21T07:17:52.123Z')
  })
})

describe('errors of PostgreSQL', () => {
  const coded = (code: string, message = 'words of the server') => Object.assign(new Error(message), { code })

  it('tell a lost connection from a refused statement', () => {
    for (const error of [
      coded('ECONNRESET'),
      coded('57P01'),
      coded('57P05'),
      coded('25P04'),
      coded('08006'),
      new Error('Connection terminated'),
    ])
      assert.ok(isConnectionLoss(error))
    for (const error of [coded('23505'), coded('28P01'), coded('57014'), new Error('other'), 'text'])
      assert.ok(!isConnectionLoss(error))
  })

  it('let only those transactions run again that left nothing behind', () => {
    for (const code of ['40001', '40P01', '57P01', '57P05', '25P04', '25006', 'EPIPE'])
      assert.ok(mayRunAgain(storeError(coded(code), 'name')), code)
    for (const code of ['23505', '53100', '57014']) assert.ok(!mayRunAgain(storeError(coded(code), 'name')), code)
  })

  it('tell a canceled statement from others, also as the error of a store', () => {
    for (const error of [coded('57014'), storeError(coded('57014'), 'name')]) assert.ok(isCanceled(error))
    for (const error of [coded('57P01'), storeError(coded('57P01'), 'name'), 'text']) assert.ok(!isCanceled(error))
  })

  it('say what to do, or stay what they are', () => {
    assert.deepEqual(
      ['53100', '28P01', '22021', '55P03', '25006', '25P04', '57P05'].map(
        (code) => (storeError(coded(code), 'name') as { code: string }).code,
      ),
      ['store_full', 'store_unavailable', 'validation_failed', ...Array(4).fill('store_unavailable')],
    )
    const other = coded('42P01')
    assert.equal(storeError(other, 'name'), other)
  })
})
