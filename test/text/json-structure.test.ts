import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { structureBytes } from '../../src/text/json-structure.ts'

const estimate = (text: string) => structureBytes(Buffer.from(text))
/** Objects, arrays and fields within a value. */
function countIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts = Object.values(value)
  return 1 + (Array.isArray(value) ? 0 : parts.length) + parts.reduce((sum: number, part) => sum + countIn(part), 0)
}

describe('the memory of a JSON text beyond its bytes', () => {
  it('is estimated from its objects, arrays and fields, and not from its strings', () => {
    const value = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()))
    const strings = fc.array(fc.stringMatching(/^[\\":{[a]{0,200}$/))
    fc.assert(
      fc.property(fc.oneof(value, strings), fc.constantFrom(undefined, 2), (json, indent) => {
        assert.equal(estimate(JSON.stringify(json, null, indent)), 100 * countIn(json))
      }),
    )
  })

  it('is at least that of a list of empty objects', () => {
    assert.ok(estimate(`[${'{},'.repeat(1000)}{}]`) > 64 * 1000)
  })

  it('is nothing for other texts', () => {
    for (const text of ['', '  ', '"{{{"', '--boundary\r\n{"a":1}', 'null']) assert.equal(estimate(text), 0, text)
  })

  it('ends with a text that breaks off', () => {
    for (const text of ['{', '["', '["\\', `["${'\\'.repeat(100)}`, `["${'a'.repeat(100)}`])
      assert.equal(estimate(text), 100, text)
  })
})
