import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { canonical } from '../../src/reconcile/compare-bill.ts'
import { amountIn, billedOf, microsOf } from '../../src/reconcile/decimal.ts'
import { isHinted } from '../../src/reconcile/provider-bill.ts'

describe('amounts of a bill', () => {
  it('are exact, whatever their form', () => {
    const micros = (value: unknown, shift = 0) => microsOf(amountIn(value, shift) ?? -1n)
    assert.deepEqual(
      ['0.1216920000000000000000000000000', 1e-7, '1.5e2', 12, '-0.0000015', ' 7.25 '].map((value) => micros(value)),
      [121_692, 0, 150_000_000, 12_000_000, -2, 7_250_000],
    )
    assert.equal(micros('123.4567', 2), 1_234_567)
    const tenth = Array.from({ length: 30 }, () => amountIn('0.0000001') ?? 0n).reduce((a, b) => a + b, 0n)
    assert.equal(microsOf(tenth), 3)
    assert.equal(billedOf(5), amountIn('0.000005'))
  })

  it('are refused where they are no decimals', () => {
    for (const value of ['', 'NaN', '1,5', '0x1', null, undefined, {}, Number.POSITIVE_INFINITY, '1e999', '--1'])
      assert.equal(amountIn(value), null, String(value))
  })
})

describe('names on a bill', () => {
  it('are those of the snapshot and of the variant without their ends', () => {
    assert.deepEqual(
      ['gpt-5-2025-08-07', 'claude-haiku-4-5-20251001', 'OpenAI/GPT-5:nitro', 'models/gemini-3-pro', 'gpt-4.1'].map(
        canonical,
      ),
      ['gpt-5', 'claude-haiku-4-5', 'openai/gpt-5', 'gemini-3-pro', 'gpt-4.1'],
    )
  })

  it('are ours when the hint shows the beginning and the end of a key', () => {
    assert.ok(isHinted('sk-ant-api03-R2D...igAA', 'sk-ant-api03-R2DxxxxxxigAA'))
    assert.ok(!isHinted('sk-ant-api03-R2D...igAA', 'sk-ant-api03-R2DxxxxxxigAB'))
    assert.ok(!isHinted('***', 'sk-any'), 'a hint that shows nothing matches nothing')
    assert.ok(!isHinted('', 'sk-any'))
  })
})
