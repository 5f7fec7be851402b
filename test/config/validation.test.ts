import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { Config } from '../../src/config/config-schema.ts'
import { GazewayError } from '../../src/errors.ts'
import { DirectRequest } from '../../src/inference/verbatim/direct-call.ts'
import { accepts } from '../../src/text/schema-in-words.ts'
import { LIST_LIMIT, parseInput } from '../../src/wire/validation.ts'
import { chatCompletion } from '../../tools/chat-completion.ts'

const Gaze = z.object({
  records: z
    .array(
      z.strictObject({
        at: z.iso.datetime(),
        dwell_ms: z.number().min(0).max(60_000),
        source: z.enum(['ide', 'manual']).default('ide'),
      }),
    )
    .min(1)
    .max(1000),
  limit: z.int().min(1).max(1000).default(50),
})
const gaze = { at: '2026-11-21T07:17:52.000Z', dwell_ms: 5 }

function refusal(schema: z.ZodType, value: unknown): GazewayError {
  try {
    parseInput(schema, value)
  } catch (error) {
    assert.ok(error instanceof GazewayError)
    assert.equal(error.code, 'validation_failed')
    assert.equal(error.status, 422)
    return error
  }
  assert.fail('the value was accepted')
}

describe('parseInput', () => {
  it('returns the value with its defaults', () => {
    assert.deepEqual(parseInput(Gaze, { records: [gaze] }), { records: [{ ...gaze, source: 'ide' }], limit: 50 })
  })

  const cases: [name: string, value: unknown, param: string | null, message: string][] = [
    [
      'names a field inside a list',
      { records: [gaze, { ...gaze, dwell_ms: 70_000 }] },
      'records.1.dwell_ms',
      'records.1.dwell_ms: too large; must be a number from 0 to 60000.',
    ],
    ['says what is missing', {}, 'records', 'records: missing; must be a list of 1 to 1000 items.'],
    [
      'says what a list is too short for',
      { records: [] },
      'records',
      'records: too short; must be a list of 1 to 1000 items.',
    ],
    [
      'lists the choices',
      { records: [{ ...gaze, source: 'nose' }] },
      'records.0.source',
      'records.0.source: invalid value; must be one of "ide", "manual".',
    ],
    [
      'names an unknown field and the known ones',
      { records: [{ ...gaze, dwel: 1 }] },
      'records.0.dwel',
      'records.0.dwel: unknown field; must be one of at, dwell_ms, source.',
    ],
    [
      'shows how a time is written',
      { records: [{ ...gaze, at: 'yesterday' }] },
      'records.0.at',
      'records.0.at: invalid format; must be an RFC 3339 time such as "2026-11-21T07:17:52.000Z".',
    ],
    [
      'tells a fraction from a whole number',
      { records: [gaze], limit: 1.5 },
      'limit',
      'limit: not a whole number; must be a whole number from 1 to 1000.',
    ],
    [
      'tells a number that JavaScript cannot hold',
      { records: [{ ...gaze, dwell_ms: JSON.parse('1e400') }], limit: JSON.parse('-1e400') },
      'records.0.dwell_ms',
      'records.0.dwell_ms: got a number that is too large; must be a number from 0 to 60000. ' +
        'limit: got a number that is too large; must be a whole number from 1 to 1000.',
    ],
    ['says what kind of value it got', 'records', null, 'input: got text; must be an object.'],
    ['tells null from missing', { records: null }, 'records', 'records: got null; must be a list of 1 to 1000 items.'],
  ]
  for (const [name, value, param, message] of cases) {
    it(name, () => {
      const error = refusal(Gaze, value)
      assert.equal(error.param, param)
      assert.equal(error.message, message)
    })
  }

  it('tells three faults and counts the rest', () => {
    const { message } = refusal(Gaze, { records: Array(5).fill({ ...gaze, dwell_ms: -1 }) })
    assert.equal(message.match(/too small/g)?.length, 3)
    assert.match(message, /2 more\.$/)
  })

  it('ends at a list that is longer than is accepted, without a look at its items', () => {
    let looked = 0
    const wrong = z.unknown().refine(() => {
      looked += 1
      return false
    })
    const { param, message } = refusal(z.object({ items: z.array(wrong).max(LIST_LIMIT) }), {
      items: Array(LIST_LIMIT + 1).fill(0),
    })
    assert.deepEqual([looked, param], [0, 'items'])
    assert.equal(message, `items: too long; must be a list of at most ${LIST_LIMIT} items.`)
  })

  it('tells of a hundred faults at most, however many there are', () => {
    const items = Array.from({ length: 5000 }, (_, i) => i)
    assert.match(refusal(z.array(z.string()), items).message, /^0: got a number; .* At least 97 more\.$/)
    assert.match(refusal(z.strictObject({}), { ...items }).message, / At least 97 more\.$/)
  })

  const flood = Array.from({ length: 5000 }, () => null)
  const chat = { messages: [{ role: 'user', content: flood }] }
  const endless: [string, z.ZodType, unknown][] = [
    ['the parts of a message', chatCompletion.input, chat],
    ['the query of a call of the upstream', DirectRequest, { method: 'GET', path: '/', query: { ...flood } }],
    ['the headers in a configuration', Config, { upstream: { headers: { ...flood } } }],
    ['the aliases in a configuration', Config, { upstream: { aliases: { ...flood } } }],
    ['the prices in a configuration', Config, { pricing: { models: { ...flood } } }],
    ['the chains in a configuration', Config, { chain: { networks: { ...flood } } }],
    ['the nodes in a configuration', Config, { chain: { rpc_urls: { ...flood } } }],
  ]
  for (const [what, schema, value] of endless)
    it(`ends early in ${what}`, () => {
      assert.match(refusal(schema, value).message, / At least 97 more\.$/)
    })

  it('tells the same fault once', () => {
    const list = z.array(z.object({ type: z.literal('a') }))
    const schema = z.object({ content: z.intersection(list, list) })
    assert.equal(refusal(schema, { content: [{ type: 'b' }] }).message, 'content.0.type: invalid value; must be "a".')
  })

  it('looks into the branch of a union that the value was meant for', () => {
    const Message = z.object({ content: z.union([z.string(), z.array(z.object({ type: z.literal('text') }))]) })
    assert.equal(refusal(Message, { content: [{ type: 'tekst' }] }).param, 'content.0.type')
    assert.equal(refusal(Message, { content: 5 }).message, 'content: got a number; must be text or a list.')
  })

  it('never repeats the refused value, which may be a secret', () => {
    const { message } = refusal(z.strictObject({ key: z.string().max(3) }), { key: 'xai-secret' })
    assert.doesNotMatch(message, /secret/)
  })

  it('keeps the message short and on one line, whatever the field is called', () => {
    const error = refusal(z.strictObject({}), { [`a\n${'b'.repeat(100_000)}`]: 1 })
    assert.ok(error.message.length <= 1000)
    assert.ok((error.param?.length ?? 0) <= 80)
    assert.doesNotMatch(error.message, /\n/)
  })

  it('follows references in schemas that contain themselves', () => {
    const Tree = z.object({
      name: z.string(),
      get children() {
        return z.array(Tree).optional()
      },
    })
    const { message } = refusal(Tree, { name: 'a', children: [{ name: 'b', children: [{ name: 5 }] }] })
    assert.equal(message, 'children.0.children.0.name: got a number; must be text.')
  })
})

describe('accepts', () => {
  it('says it in words', () => {
    assert.equal(accepts(z.int()), 'a whole number')
    assert.equal(accepts(z.int().min(1).nullable()), 'a whole number of at least 1 or null')
    assert.equal(accepts(z.number().gt(0)), 'a number above 0')
    assert.equal(accepts(z.number().min(0).multipleOf(0.000001)), 'a number of at least 0 in steps of 0.000001')
    assert.equal(accepts(z.string().min(1).max(512)), 'text of 1 to 512 characters')
    assert.equal(accepts(z.string().meta({ accepted: 'a colour' }).default('red')), 'a colour')
    assert.equal(accepts(z.boolean()), 'true or false')
  })
})
