import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Example, OpenApi, Operation } from '../../adapters/platform/openapi.ts'
import { recordExamples, STREAMS } from './api-story.ts'
import { describedSchema } from './described-schema.ts'

const FILE = 'adapters/platform/examples.json'
/** Largest file of examples, in bytes: all of them are read with the reference. */
const LARGEST_BYTES = 96 * 1024

describe('the examples of the API', () => {
  let recorded: Record<string, Example>
  let described: OpenApi

  const ends: (() => unknown)[] = []

  before(async () => {
    const recording = await recordExamples({ after: (end) => void ends.unshift(end) })
    recorded = recording.examples
    described = recording.described
    if (process.env.GAZEWAY_WRITE_API === '1') writeFileSync(FILE, oneALine(recorded))
  })

  after(async () => {
    for (const end of ends) await end()
  })

  const kept = () => JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Example>
  const operations = () =>
    new Map(
      Object.entries(described.paths)
        .filter(([path]) => !path.startsWith('/v1/'))
        .flatMap(([, methods]) => Object.values(methods).map((one): [string, Operation] => [one.operationId, one])),
    )

  it('are of each operation, save those whose reply is a stream', () => {
    const names = [...operations().keys()].filter((name) => !STREAMS.includes(name))
    assert.deepEqual(Object.keys(kept()).sort(), names.sort(), 'run npm run api')
  })

  it('have the fields that the routes answer with', () => {
    for (const [name, example] of Object.entries(recorded))
      assert.deepEqual(
        likeness(kept()[name], example),
        [],
        `${name} is answered otherwise than its example: run npm run api`,
      )
  })

  it('are what the schemas describe, and hold no field beside them', () => {
    const ajv = addFormats.default(new Ajv2020.default({ strict: false, allErrors: true }))
    for (const [name, { request, reply }] of Object.entries(kept())) {
      const operation = operations().get(name)
      const answered = Object.entries(operation?.responses ?? {}).find(([status]) => status.startsWith('20'))?.[1]
      const schemas = { request: operation?.requestBody, reply: answered as Operation['requestBody'] }
      for (const [side, value] of [['request', request] as const, ['reply', reply] as const]) {
        const schema = schemas[side]?.content?.['application/json']?.schema
        if (value === undefined || schema === undefined) continue
        const matches = ajv.compile(describedSchema(described, schema, { closed: true }))
        assert.ok(matches(value), `${name}, ${side}: ${ajv.errorsText(matches.errors)}`)
      }
    }
  })

  it('hold no secret, no place of a machine, and little', () => {
    const text = readFileSync(FILE, 'utf8')
    assert.doesNotMatch(text, /gz[wt]_(?!0{32}_x{43}|x{43})|\/tmp\/|BEGIN|private_key":"[^"*]/)
    assert.ok(text.length <= LARGEST_BYTES, `${text.length} bytes`)
  })
})

const oneALine = (examples: Record<string, Example>): string =>
  `{\n${Object.entries(examples)
    .map(([name, example]) => `${JSON.stringify(name)}:${JSON.stringify(example)}`)
    .join(',\n')}\n}\n`

/** Lists the places where two values have other fields or types. Null is as any. */
function likeness(one: unknown, other: unknown, place = ''): string[] {
  if (one === null || other === null) return []
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === 0 || other.length === 0 ? [] : likeness(one[0], other[0], `${place}[]`)
  if (typeof one !== typeof other || Array.isArray(one) !== Array.isArray(other)) return [place]
  if (typeof one !== 'object' || typeof other !== 'object') return []
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>]
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].flatMap((name) =>
    name in left && name in right ? likeness(left[name], right[name], `${place}.${name}`) : [`${place}.${name}`],
  )
}
