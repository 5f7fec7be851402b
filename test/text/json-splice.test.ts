import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { outlineOf } from '../../src/text/json-members.ts'
import { splicedJson } from '../../src/text/json-splice.ts'

const splice = (text: string, changes: Record<string, unknown>): string =>
  splicedJson(Buffer.from(text), outlineOf(text), changes).toString()

/** Writes a name with or without escapes. */
const written = (name: string, isEscaped: boolean): string =>
  isEscaped
    ? `"${[...Array(name.length).keys()].map((at) => escaped(name.charCodeAt(at))).join('')}"`
    : JSON.stringify(name)
const escaped = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`

const names = fc.constantFrom('model', 'stream', 'é\u2028', '"}', '\\', '', '__proto__')
const blank = fc.constantFrom('', ' ', '\r\n\t')
const members = fc.array(
  fc.record({
    name: fc.oneof(names, fc.string()),
    isEscaped: fc.boolean(),
    value: fc.jsonValue().map((value) => JSON.stringify(value)),
    blanks: fc.tuple(blank, blank, blank, blank),
  }),
  { maxLength: 6 },
)
const changes = fc.uniqueArray(fc.tuple(names, fc.option(fc.jsonValue(), { nil: undefined })), {
  selector: ([name]) => name,
})

describe('fields set in the bytes of a JSON object', () => {
  it('say the same as fields set in the object, and leave the other bytes', () => {
    fc.assert(
      fc.property(members, changes, (given, changed) => {
        const texts = given.map(({ name, isEscaped, value, blanks: [a, b, c, d] }) => ({
          name,
          text: `${written(name, isEscaped)}${b}:${c}${value}`,
          whole: `${a}${written(name, isEscaped)}${b}:${c}${value}${d}`,
        }))
        const text = ` {${texts.map(({ whole }) => whole).join()}}\n`
        const set = Object.fromEntries(changed)
        const sent = splice(text, set)
        const expected = { ...JSON.parse(text), ...set }
        assert.deepEqual(JSON.parse(sent), JSON.parse(JSON.stringify(expected)))
        let at = 0
        for (const [index, { name, text: own }] of texts.entries()) {
          const isLast = !texts.slice(index + 1).some((later) => later.name === name)
          if (!isLast || Object.hasOwn(set, name)) continue
          at = sent.indexOf(own, at) + own.length
          assert.ok(at >= own.length, `${own} is not in ${sent}`)
        }
      }),
    )
  })

  it('are the bytes themselves where nothing changes', () => {
    const bytes = Buffer.from('{ "a" : [1.0, "\\u0061"] }')
    assert.equal(splicedJson(bytes, outlineOf(String(bytes)), { b: undefined }), bytes)
  })

  for (const [text, set, sent] of [
    ['{"a":1, "b":2 ,"c":3}', { a: undefined }, '{"b":2 ,"c":3}'],
    ['{"a":1, "b":2 ,"c":3}', { b: undefined }, '{"a":1 ,"c":3}'],
    ['{"a":1, "b":2 ,"c":3}', { b: undefined, c: undefined }, '{"a":1}'],
    ['{"a":1, "b":2 }', { a: undefined, b: undefined, c: 1 }, '{"c":1 }'],
    ['{"a":1,"b":{"a":2},"a":3}', { a: 4 }, '{"b":{"a":2},"a":4}'],
    ['{"é€":1,"\\u00e9€":2,"ü":3}', { ü: 'ä' }, '{"\\u00e9€":2,"ü":"ä"}'],
    ['{"\\u0061":1,"b":"\\"a\\":"}', { a: 2 }, '{"a":2,"b":"\\"a\\":"}'],
  ] as const)
    it(`take their commas along: ${text} with ${JSON.stringify(set)}`, () => {
      assert.equal(splice(text, set), sent)
    })
})

describe('the outline of a JSON text', () => {
  it('counts objects, arrays and fields, and lists the names of fields as they are written', () => {
    const { parts, names } = outlineOf('{"a":[{"b\\u0063":{}},"d","e:",[1]],"a":{"f":"{"}}')
    assert.equal(parts, 10)
    assert.deepEqual([...(names ?? [])], ['a', 'b\\u0063', 'f'])
  })

  it('lists no names where there are very many', () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`name${index}`, 0]))
    assert.equal(outlineOf(JSON.stringify(many)).names, null)
    assert.equal(outlineOf(JSON.stringify({ ...many, name1000: undefined })).names?.size, 1000)
  })

  for (const number of ['9223372036854775807', '1e400', '-2.5E-400', '0.12345678901234567890'])
    it(`finds ${number} as a number alone`, () => {
      assert.equal(outlineOf(`{"a":[{"b": ${number}}]}`).hasLargeNumber, true)
      assert.equal(outlineOf(`{"a":":${number},","b":[1,2.5,-3e10],"c":"\\\\"}`).hasLargeNumber, false)
    })
})
