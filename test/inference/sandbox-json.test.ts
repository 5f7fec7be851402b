import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import * as z from 'zod'
import { GazewayError } from '../../src/errors.ts'
import { createInstance } from '../../src/inference/sandbox/json-instance.ts'
import { createJsonTexts } from '../../src/inference/sandbox/json-texts.ts'

const SENTENCES = ['The ledger posts double entries.', 'Escrow holds the reward until release.', 'Gaze is local.']

const instanceOf = (schema: unknown) => createInstance(schema, createJsonTexts(SENTENCES, { marked: true }))

function assertValid(schema: object): unknown {
  const instance = instanceOf(schema)
  const ajv = new Ajv2020({ strict: false, validateFormats: true })
  addFormats.default(ajv)
  assert.ok(ajv.validate(schema, instance), `${JSON.stringify(instance)} under ${JSON.stringify(schema)}`)
  return instance
}

const size = fc.nat({ max: 4 })
const range = <T extends string>(low: T, high: T) =>
  fc.tuple(size, size, fc.boolean(), fc.boolean()).map(([from, more, hasLow, hasHigh]) => ({
    ...(hasLow && { [low]: from }),
    ...(hasHigh && { [high]: from + more }),
  }))
const name = fc.constantFrom('id', 'title', 'depends_on', 'parent_id', 'tags', 'score', 'summary', 'x')
const format = fc.constantFrom('date-time', 'date', 'time', 'email', 'uuid', 'ipv4', 'ipv6', 'hostname', 'duration')
const pattern = fc.constantFrom('^[a-z]+$', '^\\d{3}$', '^v?\\d+\\.\\d+\\.\\d+$', '^#[0-9a-f]{6}$')

/** Schemas of OpenAI's subset. */
const { schema: satisfiable } = fc.letrec<{ schema: object; leaf: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    tie('leaf'),
    fc.dictionary(name, tie('schema'), { maxKeys: 4 }).map((properties) => ({
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    })),
    fc
      .tuple(tie('schema'), range('minItems', 'maxItems'))
      .map(([items, limits]) => ({ type: 'array', items, ...limits })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
  leaf: fc.oneof(
    fc.constant({ type: 'boolean' }),
    fc.constant({ type: ['string', 'null'] }),
    fc.integer({ min: 1, max: 30 }).map((maxLength) => ({ type: 'string', maxLength })),
    format.map((known) => ({ type: 'string', format: known })),
    pattern.map((known) => ({ type: 'string', pattern: known })),
    fc
      .tuple(fc.constantFrom('integer', 'number'), range('minimum', 'maximum'))
      .map(([type, limits]) => ({ type, ...limits })),
    fc
      .tuple(fc.double({ min: -5, max: 5, noNaN: true }), fc.double({ min: 0.01, max: 9, noNaN: true }))
      .map(([low, width]) => ({ type: 'number', exclusiveMinimum: low, exclusiveMaximum: low + width })),
    fc
      .tuple(fc.constantFrom(1, 2, 5, 0.5), fc.integer({ min: -9, max: 9 }))
      .map(([multipleOf, minimum]) => ({ type: 'number', minimum, multipleOf })),
    fc
      .array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 })
      .map((values) => ({ enum: values })),
    fc.oneof(fc.string(), fc.boolean()).map((value) => ({ const: value })),
  ),
}))

describe('JSON made from a schema', () => {
  it('is valid under any schema of the subset, and the same each time', () => {
    fc.assert(
      fc.property(satisfiable, (schema) => assert.deepEqual(assertValid(schema), instanceOf(schema))),
      { numRuns: 150 },
    )
  })

  it('has as many items as a list may hold, and ends references to a parent with null', () => {
    const node = { type: 'object', properties: { id: { type: 'string' }, parent_id: { type: ['string', 'null'] } } }
    assert.deepEqual(assertValid({ type: 'array', items: node, maxItems: 2 }), [
      { id: 'i1', parent_id: null },
      { id: 'i2', parent_id: 'i1' },
    ])
    assert.equal((assertValid({ type: 'array', items: node, minItems: 5 }) as unknown[]).length, 5)
  })

  it('ends where a schema refers to itself', () => {
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree)
      },
      get next() {
        return z.union([tree, z.null()])
      },
    })
    const made = tree.parse(assertValid(z.toJSONSchema(tree)))
    assert.ok(JSON.stringify(made).length < 200_000)
  })

  it('takes one shape of several, as tools describe them', () => {
    const shape = z.discriminatedUnion('type', [
      z.object({ type: z.literal('circle'), radius: z.number().positive() }),
      z.object({ type: z.literal('square'), side: z.number().positive() }),
    ])
    assert.deepEqual(assertValid(z.toJSONSchema(z.object({ shape, scores: z.record(z.string(), z.number()) }))), {
      shape: { type: 'circle', radius: 1 },
      scores: {},
    })
    const one = { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['b'] }, { required: ['a'] }] }
    assert.ok('b' in (assertValid(one) as object))
  })

  it('takes text for formats that it does not know, and words for patterns', () => {
    assert.match(String(assertValid({ type: 'string', format: 'x-prose' })), /^\[sandbox\] The ledger/)
    assert.equal(assertValid({ type: 'string', pattern: '^[^<>]*$' }), 'ledger')
  })

  const refused: [string, unknown][] = [
    ['a pattern that matches for hours', { type: 'string', pattern: `^(([a-z]+)+!|${'(s|sa|san)*'.repeat(9)}#)$` }],
    ['a type that does not exist', { type: 'thing' }],
    ['a contradiction', { type: 'integer', minimum: 2, maximum: 1 }],
    ['an endless schema', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['options without end', { anyOf: [{ $ref: '#' }] }],
    ['a reference to itself', { $ref: '#' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/none' }],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['parts that have to be met together', { allOf: [{ type: 'object', required: ['a'] }] }],
    ['a keyword that is outside the subset', { type: 'object', dependentRequired: { a: ['b'] } }],
    ['a pattern that is no regular expression', { type: 'string', pattern: '(' }],
    ['a pattern that it has no text for', { type: 'string', pattern: '^q{7}z$' }],
    ['a list without end', { type: 'array', items: { type: 'null' }, minItems: 1e9 }],
  ]
  for (const [what, schema] of refused) {
    it(`is refused for ${what}`, () => {
      assert.throws(
        () => instanceOf(schema),
        (error) => error instanceof GazewayError && /OpenAI's subset/.test(error.message),
      )
    })
  }
})
