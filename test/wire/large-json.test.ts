import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { outlineOf } from '../../src/text/json-members.ts'
import { splicedJson } from '../../src/text/json-splice.ts'
import { outlineInTurns, parseInTurns, stringifyInTurns } from '../../src/wire/large-json.ts'
import { decodeInTurns, decodeLarge, type LargeText, textAsLarge } from '../../src/wire/large-text.ts'

/** Blanks that make a list longer than what is read at once. */
const LONG = ' '.repeat(256 * 1024)

/** Decodes a text from its bytes: at once, and in parts where they are looked into. */
async function decoded(text: string): Promise<LargeText[]> {
  const bytes = Buffer.from(text)
  const both = await Promise.all([decodeLarge(bytes), decodeLarge(bytes, 0)])
  return both.map((large) => {
    assert.ok(large)
    return large
  })
}

/** Parses a text as it is, and from its bytes. */
async function parsed(text: string): Promise<unknown> {
  const [asText, ...asBytes] = await Promise.all(
    [textAsLarge(text), ...(await decoded(text))].map((one) => parseInTurns(one).catch((error) => error.name)),
  )
  for (const value of asBytes) assert.deepEqual(value, asText)
  return asText
}
const expected = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    return (error as Error).name
  }
}

describe('a large JSON text', () => {
  it('is read as JSON.parse reads it, whatever breaks it', async () => {
    const lists = fc.array(fc.jsonValue(), { maxLength: 4 })
    const broken = fc.constantFrom('', ',', ']', '}', '"', '[', ' 0', '\\')
    const name = fc.constantFrom('a', 'b', '__proto__', 'x"\\')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name, lists), { maxLength: 3 }),
        broken,
        fc.nat(3),
        async (given, part, at) => {
          const fields = given.map(([key, list], index) => {
            const items = list.map((item) => `${LONG}${JSON.stringify(item)}`).join() || LONG
            return `${JSON.stringify(key)}: [${items}${at === index ? part : ''}]`
          })
          const text = ` {${fields.join(' , ')}${at === 3 ? part : ''}} `
          assert.deepEqual(await parsed(text), expected(text))
        },
      ),
      { numRuns: 40 },
    )
  })

  for (const [what, text] of [
    ['lacks an item', `{"a":[1${LONG},,2]}`],
    ['ends a list with a comma', `{"a":[1${LONG},2${LONG},]}`],
    ['closes a list early', `{"a":[1${LONG}],[2${LONG}]}`],
    ['is a list', `[1${LONG},2]`],
    ['is a string', `"${LONG}"`],
    ['is an open string', `{"a":["${LONG}`],
    ['has a number before a list', `{"a":1[${LONG}]}`],
  ] as const)
    it(`that ${what} is read as JSON.parse reads it`, async () => {
      assert.deepEqual(await parsed(text), expected(text))
    })

  it('is written as JSON.stringify writes it', async () => {
    const object = fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.array(fc.string())))
    await fc.assert(
      fc.asyncProperty(object, async (value) => {
        assert.equal((await stringifyInTurns(value)).toString(), JSON.stringify(value))
      }),
    )
    const long = { list: [`é${LONG}`, undefined, LONG], rest: 1 }
    assert.equal((await stringifyInTurns(long)).toString(), JSON.stringify(long))
  })

  it('has long strings read and written as a whole, wherever their parts end', async () => {
    const patterns = ['x', '\\', '\n', '"', '\u0001', 'é', '😀', '\ud800']
    for (const pattern of patterns)
      for (let shift = 0; shift < 7; shift++) {
        const long = '-'.repeat(shift) + pattern.repeat(140_000)
        const value = { long, list: [1, { name: [long, 'short'], __proto__: null }], [long.slice(0, 9)]: 2 }
        const text = JSON.stringify(value)
        assert.ok((await stringifyInTurns(value)).toString() === text, `${pattern} ${shift} written`)
        const escaped = pattern === 'é' ? text.replaceAll('é', '\\u00e9') : text
        assert.ok(JSON.stringify(await parseInTurns(textAsLarge(escaped))) === text, `${pattern} ${shift} read`)
        for (const large of await decoded(text))
          assert.ok(JSON.stringify(await parseInTurns(large)) === text, `${pattern} ${shift} read from bytes`)
      }
    const names = `{"${LONG}" \n : "${LONG}", "__proto__": "${LONG}"}`
    assert.deepEqual(await parsed(names), JSON.parse(names))
    const broken = `{"a": ["${LONG}\\q"]}`
    assert.equal(await parsed(broken), 'SyntaxError')
  })

  it('is decoded as UTF-8, between whole letters', async () => {
    for (const letter of ['a', 'é', '€', '😀'])
      for (const shift of ['', 'x', 'xy', 'xyz']) {
        const text = shift + letter.repeat(200_000)
        assert.ok((await decodeInTurns(Buffer.from(text))) === text, letter)
      }
    const broken = Buffer.from([0x7b, 0xff, 0x7d])
    assert.equal(await decodeInTurns(broken), null)
    assert.deepEqual([await decodeLarge(broken), await decodeLarge(broken, 0)], [null, null])
  })

  it('is outlined by its bytes, and changed in them', async () => {
    const text = `{"é€": 1, "ü\\n": ["😀${LONG}", {"ſ": 1}], "model": "m", "e": "${LONG}"}`
    const bytes = Buffer.from(text)
    const { members, names, parts, levels } = outlineOf(text)
    const changed = { 'é€': 2, model: 'ä', e: undefined }
    const spliced = splicedJson(bytes, outlineOf(text), changed)
    for (const large of await decoded(text)) {
      const outline = await outlineInTurns(large)
      assert.deepEqual(
        { ...outline, members: outline.members.map(({ name }) => name) },
        { ...outline, names, parts, levels, members: members.map(({ name }) => name) },
      )
      assert.ok(splicedJson(bytes, outline, changed).equals(spliced))
    }
    const { e: _, ...kept } = JSON.parse(text)
    assert.deepEqual(JSON.parse(String(spliced)), { ...kept, 'é€': 2, model: 'ä' })
  })

  it('lets other work go on while a million numbers are read', async () => {
    let turns = 0
    const turn = () => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    const numbers = `{"a":[${'1234567,'.repeat(1_000_000)}0]}`
    const { a } = (await parseInTurns(textAsLarge(numbers))) as { a: number[] }
    clearImmediate(next)
    assert.equal(a.length, 1_000_001)
    assert.ok(turns > 1, `${turns} turns`)
  })
})
