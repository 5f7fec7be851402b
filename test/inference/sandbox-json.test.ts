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

function instanceOf(schema: unknown): unknown {
  return createInstance(schema, createJsonTexts(SENTENCES, { marked: true }))
}

function validator(schema: object) {
  const ajv = new Ajv2020({ strict: false, validateFormats: true })
  addFormats.default(ajv)
  return ajv.compile(schema)
}

function assertValid(schema: object): unknown {
  const instance = instanceOf(schema)
  const validate = validator(schema)
  assert.ok(
    validate(instance),
    `${JSON.stringify(instance)} under ${JSON.stringify(schema)}: ${JSON.stringify(validate.errors)}`,
  )
  return instance
}

const size = fc.nat({ max: 4 })
const range = <T extends string>(low: T, high: T) =>
  fc.tuple(size, size, fc.boolean(), fc.boolean()).map(([from, more, hasLow, hasHigh]) => ({
    ...(hasLow && { [low]: from }),
    ...(hasHigh && { [high]: from + more }),
  }))

const name = fc.constantFrom('id', 'title', 'depends_on', 'parent_id', 'tags', 'score', 'summary', 'x')
const format = fc.constantFrom(
  'date-time',
  'date',
  'time',
  'email',
  'uri',
  'uuid',
  'ipv4',
  'ipv6',
  'hostname',
  'duration',
)

const { schema: satisfiable } = fc.letrec<{ schema: object; object: object; leaf: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    tie('leaf'),
    tie('object'),
    fc
      .tuple(tie('schema'), range('minItems', 'maxItems'))
      .map(([items, limits]) => ({ type: 'array', items, ...limits })),
    fc
      .array(tie('schema'), { minLength: 1, maxLength: 3 })
      .map((prefixItems) => ({ type: 'array', prefixItems, items: false })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc
      .tuple(tie('object'), tie('leaf'))
      .map(([a, b]) => ({ oneOf: [a, { type: 'array', items: b }, { type: 'null' }] })),
    fc.tuple(fc.dictionary(name, tie('schema'), { maxKeys: 2 }), tie('schema')).map(([properties, extra]) => ({
      allOf: [{ properties }, { type: 'object', properties: { extra }, required: ['extra'] }],
    })),
  ),
  object: fc
    .tuple(fc.dictionary(name, tie('schema'), { maxKeys: 4 }), fc.boolean(), fc.boolean(), size)
    .map(([properties, all, open, minProperties]) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).filter((_, at) => all || at % 2 === 0),
      ...(open && { minProperties, additionalProperties: { type: 'string' } }),
    })),
  leaf: fc.oneof(
    fc.constant({ type: 'boolean' }),
    fc.constant({ type: ['null', 'string'] }),
    range('minLength', 'maxLength').map((limits) => ({ type: 'string', ...limits })),
    format.map((known) => ({ type: 'string', format: known })),
    fc
      .constantFrom('^[a-z]+$', '^\\d{3}$', '^v?\\d+\\.\\d+\\.\\d+$', '^#[0-9a-f]{6}$')
      .map((pattern) => ({ type: 'string', pattern })),
    fc
      .tuple(fc.constantFrom('integer', 'number'), range('minimum', 'maximum'))
      .map(([type, limits]) => ({ type, ...limits })),
    fc
      .tuple(fc.double({ min: -5, max: 5, noNaN: true }), fc.double({ min: 0.01, max: 9, noNaN: true }))
      .map(([low, width]) => ({
        type: 'number',
        exclusiveMinimum: low,
        exclusiveMaximum: low + width,
      })),
    fc.tuple(fc.constantFrom(1, 2, 5, 0.5), fc.integer({ min: -9, max: 9 })).map(([multipleOf, minimum]) => ({
      type: 'number',
      minimum,
      multipleOf,
    })),
    fc
      .array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 })
      .map((values) => ({ enum: values })),
    fc.oneof(fc.string(), fc.boolean()).map((value) => ({ const: value })),
  ),
}))

describe('JSON made from a schema', () => {
  it('is valid under any schema that can be satisfied', () => {
    fc.assert(
      fc.property(satisfiable, (schema) => void assertValid(schema)),
      { numRuns: 150 },
    )
  })

  it('is the same each time', () => {
    fc.assert(
      fc.property(satisfiable, (schema) => assert.deepEqual(instanceOf(schema), instanceOf(schema))),
      { numRuns: 50 },
    )
  })

  it('is a plan without cycles where the tasks of a list name each other', () => {
    const text = { type: 'string' }
    const plan = assertValid({
      type: 'object',
      properties: {
        tasks: {
          type: 'array',
          maxItems: 8,
          items: {
            type: 'object',
            properties: {
              id: text,
              title: { type: 'string', minLength: 1, maxLength: 200 },
              description: text,
              depends_on: { type: 'array', items: text },
              capabilities: { type: 'array', items: text },
            },
            required: ['id', 'title', 'description', 'depends_on', 'capabilities'],
            additionalProperties: false,
          },
        },
      },
      required: ['tasks'],
      additionalProperties: false,
    }) as { tasks: { id: string; title: string; depends_on: string[] }[] }
    assert.deepEqual(
      plan.tasks.map(({ id, depends_on }) => ({ id, depends_on })),
      [
        { id: 't1', depends_on: [] },
        { id: 't2', depends_on: ['t1'] },
        { id: 't3', depends_on: ['t2'] },
      ],
    )
    assert.match(plan.tasks[0]?.title ?? '', /^\[sandbox\] /)
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

  it('is valid under the schemas that zod makes', () => {
    const schema = z.strictObject({
      at: z.iso.datetime(),
      mail: z.email(),
      site: z.url(),
      uid: z.uuid(),
      count: z.int().min(3),
      share: z.number().gt(0).lt(1),
      kind: z.enum(['a', 'b']),
      pair: z.tuple([z.string(), z.number()]),
      scores: z.record(z.string(), z.number()),
      shape: z.discriminatedUnion('type', [
        z.object({ type: z.literal('circle'), radius: z.number().positive() }),
        z.object({ type: z.literal('square'), side: z.number().positive() }),
      ]),
      note: z.string().max(12).nullable(),
      both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.boolean() })),
      maybe: z.string().optional(),
    })
    schema.parse(assertValid(z.toJSONSchema(schema)))
    schema.parse(instanceOf(z.toJSONSchema(schema, { target: 'draft-7' })))
  })

  it('holds only different items where they have to be', () => {
    assertValid({ type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3, uniqueItems: true })
    assertValid({ type: 'array', items: { type: 'integer', minimum: 1, maximum: 3 }, minItems: 3, uniqueItems: true })
    assertValid({ type: 'array', items: { type: 'string', maxLength: 3 }, uniqueItems: true })
  })

  it('takes text for formats that it does not know, and words for patterns', () => {
    assert.match(String(assertValid({ type: 'string', format: 'x-prose' })), /^\[sandbox\] The ledger/)
    assert.equal(assertValid({ type: 'string', pattern: '^[^<>]*$' }), 'ledger')
  })

  const refused: [string, unknown][] = [
    [
      'a pattern that matches for hours',
      { type: 'string', pattern: `^(([a-z]+)+!|${'(s|sa|san|sand)*'.repeat(9)}#)$` },
    ],
    ['a type that does not exist', { type: 'thing' }],
    ['a contradiction', { type: 'integer', minimum: 2, maximum: 1 }],
    [
      'an endless schema',
      {
        $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, required: ['a'] } },
        $ref: '#/$defs/a',
      },
    ],
    ['a reference to itself', { $ref: '#' }],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/none' }],
    ['a keyword it does not know', { type: 'object', dependentRequired: { a: ['b'] } }],
    ['a pattern that is no regular expression', { type: 'string', pattern: '(' }],
    ['a pattern it cannot meet', { type: 'string', pattern: '^q{7}z$' }],
    ['a list without end', { type: 'array', items: { type: 'null' }, minItems: 1e9 }],
  ]
  for (const [what, schema] of refused) {
    it(`is refused for ${what}`, () => {
      assert.throws(
        () => instanceOf(schema),
        (error) => error instanceof GazewayError && error.code === 'invalid_request',
      )
    })
  }
})
