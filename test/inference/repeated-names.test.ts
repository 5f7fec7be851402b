import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { repeatsNames } from '../../src/inference/admit/repeated-names.ts'

const request = (text: string) => ({ text, json: JSON.parse(text) as object })

describe('names that an object of a request has twice', () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":[{"b":{},"\\u0062":2}]}',
    '{"a":{"__proto__":1,"__proto__":2}}',
    '{"":0,"":0}',
  ])
    it(`are found: ${text}`, () => assert.equal(repeatsNames(request(text)), true))

  it('are found in no other request', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)])
          assert.equal(repeatsNames(request(text)), false, text)
      }),
    )
  })

  it('are found beside fields that Gazeway has set, in whose place others were or nothing was', () => {
    const edits = { model: 'm', tools: [{ a: 1, b: [] }], stream: true }
    for (const [text, expected] of [
      ['{"model":"n","tools":[{}],"x":{"a":1}}', false],
      ['{"model":"n","tools":[{}],"x":{"a":1,"a":2}}', true],
      ['{"x":{"a":1,"a":2}}', true],
    ] as const) {
      const { json } = request(text)
      assert.equal(repeatsNames({ text, json: { ...json, ...edits }, edits }), expected, text)
    }
  })
})
