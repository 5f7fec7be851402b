import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { jsonBytes } from '../../src/text/json-bytes.ts'

it('counts the bytes of any value as JSON', () => {
  const string = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('"', '\\', '\n', '\u0001', '\ud800', 'ä', '漢', '😀'),
  )
  const values = fc.anything({
    key: string,
    values: [string, fc.double(), fc.boolean(), fc.constant(null), fc.constant(undefined)],
  })
  fc.assert(
    fc.property(values, (value) => {
      const text = JSON.stringify(value)
      assert.equal(jsonBytes(value), text === undefined ? 0 : Buffer.byteLength(text))
    }),
  )
})
