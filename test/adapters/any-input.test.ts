import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import * as z from 'zod'
import type { Route } from '../../adapters/platform/define-route.ts'
import type { OpenApi, Operation, Parameter } from '../../adapters/platform/openapi.ts'
import { checkAuth, checkFrame, readFrame } from '../../adapters/platform/socket/frame-schemas.ts'
import { CONFIG_KEYS, schemaOf } from '../../src/config/config-keys.ts'
import { GazewayError } from '../../src/errors.ts'
import { VERBATIM_PATHS } from '../../src/inference/api/verbatim-paths.ts'
import { tools } from '../../tools/index.ts'
import { runsOf } from '../doubles/runs.ts'
import { describedSchema } from './described-schema.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

/** A part of a JSON Schema, as far as values are made from it. */
interface Schema {
  type?: string
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  minimum?: number
}

/** Requests for each route. */
const RUNS = runsOf(6)
/** Values for each schema. */
const VALUES = runsOf(150)

/** Texts that checks and conversions of texts have met, or have not met yet. */
const TEXTS = [
  '',
  ' ',
  'a',
  '90d',
  '99999999999d',
  '0s',
  '2026-02-31T00:00:00Z',
  '2027-13-45T99:99:99Z',
  '2027-01-31',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-05:00',
  '+275760-09-13T00:00:01Z',
  '2027-01-31T00:00:00Z',
  `0x${'0'.repeat(40)}`,
  '0xZZ',
  `task_${'0'.repeat(32)}`,
  `key_${'0'.repeat(32)}`,
  `swarm_${'0'.repeat(32)}`,
  '\0',
  '\ud800',
  '../..',
  '%',
  '[',
  '{"a":',
  '__proto__',
  'http://[',
  '1e999',
  '-0',
  'x'.repeat(3000),
]
const NUMBERS = [0, -0, -1, 0.5, 1, 1.0000001, 2 ** 31, 2 ** 53, 1e21, -1e308, 5e-324]
const OTHERS = [null, true, false, [], {}, [[]], [null], { a: {} }, ['\0', 1, {}], JSON.parse('{"__proto__":{"a":1}}')]

const anything = fc.constantFrom<unknown>(...TEXTS, ...NUMBERS, ...OTHERS)

/** Values of a schema, in which any part may be anything. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 3, arbitrary: plausible(schema) }, { weight: 1, arbitrary: anything })
}

function plausible(schema: Schema): fc.Arbitrary<unknown> {
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) return fc.oneof(...branches.map(valuesOf))
  if (schema.allOf) return fc.oneof(...schema.allOf.map(valuesOf))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  switch (schema.type) {
    case 'object': {
      const { properties = {}, additionalProperties: others } = schema
      if (Object.keys(properties).length > 0)
        return fc.record(Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, valuesOf(part)])), {
          requiredKeys: [],
        })
      return fc.dictionary(fc.constantFrom(...TEXTS), typeof others === 'object' ? valuesOf(others) : anything, {
        maxKeys: 2,
      })
    }
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), { maxLength: 3 })
    case 'string':
      return fc.constantFrom(...TEXTS)
    case 'integer':
    case 'number':
      return fc.constantFrom(...NUMBERS, schema.minimum ?? 3)
    case 'boolean':
      return fc.boolean()
    default:
      return anything
  }
}

/** Texts for the places of an address. */
function parametersOf(parameters: readonly Parameter[], place: Parameter['in']) {
  const values = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, schema }) => [name, valuesOf(schema as Schema).map((value) => String(written(value)))])
  return fc.record(Object.fromEntries(values), place === 'path' ? {} : { requiredKeys: [] })
}

const written = (value: unknown) => (typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value))

interface Asked {
  path: Record<string, string>
  query: Record<string, string>
  body: unknown
}

let running: RunningPlatform
before(async () => {
  running = await startPlatform('sandbox')
})
after(() => running.close())

async function send(method: string, url: string, body: unknown): Promise<void> {
  const reply = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${running.admin}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  // The stream of calls has no end.
  const isEndless = reply.ok && url.includes('/api/calls/live')
  const text = isEndless ? String(await reply.body?.cancel()) : await reply.text()
  assert.ok(reply.status < 500, `${method} ${url} ${JSON.stringify(body)}: ${reply.status} ${text}`)
}

describe('no input is an error of the server', () => {
  it('on any route of the platform', async () => {
    const described = (await (await fetch(`${running.url}/openapi.json`)).json()) as OpenApi
    for (const [path, operations] of Object.entries(described.paths))
      for (const [method, operation] of Object.entries(operations)) {
        // A change of the configuration may end what is tested here. Its schemas are tested as such.
        if (path.startsWith('/v1/') || (path.startsWith('/api/config') && method !== 'get')) continue
        // It waits 6 s for the requests of each caller that a text may name, and has tests of its own.
        if (path === '/api/callers/{id}/forget') continue
        await fc.assert(
          fc.asyncProperty(inputOf(described, operation), ({ path: parameters, query, body }) =>
            send(
              method.toUpperCase(),
              `${running.url}${path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameters[name] ?? ''))}?${new URLSearchParams(query)}`,
              body,
            ),
          ),
          { numRuns: RUNS },
        )
      }
  })

  it('on any path of /v1 and of memory', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const bodies: Record<string, object> = {
      '/v1/chat/completions': { model: 'sandbox', messages, max_tokens: 5, stream: false, stream_options: {} },
      '/v1/responses': { model: 'sandbox', input: messages, tools: [{ type: 'web_search' }], max_output_tokens: 5 },
      '/v1/messages': { model: 'sandbox', messages, max_tokens: 5, system: 'Be brief.', tools: [] },
      '/v1/messages/count_tokens': { model: 'sandbox', messages },
      '/memory/store': { key: 'a', value: { a: 1 }, tags: ['a'], ttl_seconds: 5 },
    }
    for (const { method, path, body } of VERBATIM_PATHS)
      if (method === 'POST' && body === 'json')
        bodies[`/v1${path}`] = { model: 'sandbox', input: ['a'], prompt: 'a', query: 'a', documents: [{}] }
    for (const [path, body] of Object.entries(bodies))
      await fc.assert(
        fc.asyncProperty(changed(body), (sent) => send('POST', running.gatewayUrl + path, sent)),
        { numRuns: RUNS },
      )
  })

  it('in the schema of any route, setting or tool', async () => {
    const routes = await allRoutes()
    assert.ok(routes.length > 50, `${routes.length}`)
    const schemas = [
      ...routes.flatMap(({ params, query, body }) => [params, query, body]),
      ...CONFIG_KEYS.map(({ key }) => schemaOf(key)),
      ...tools.map(({ input }) => input),
    ]
    for (const schema of schemas) {
      if (schema === undefined) continue
      const described = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
      fc.assert(
        fc.property(valuesOf(described), (value) => void schema.safeParse(value)),
        { numRuns: VALUES },
      )
    }
  })

  it('in any frame', () => {
    const frame = { type: 'chat', user: 'ann', content: 'Hi', id: 1, ticket: 'a', session_id: 'b' }
    fc.assert(
      fc.property(changed(frame), (value) => {
        for (const check of [checkAuth, checkFrame])
          try {
            check(readFrame(JSON.stringify(value)))
          } catch (error) {
            assert.ok(error instanceof GazewayError, String(error))
          }
      }),
    )
  })
})

/** The routes of every file, which are registered with their schemas. */
async function allRoutes(): Promise<Route[]> {
  const folder = new URL('../../adapters/platform/routes', import.meta.url)
  const files = readdirSync(folder).filter((file) => file !== 'docs-routes.ts')
  const modules = await Promise.all(files.map((file) => import(`../../adapters/platform/routes/${file}`)))
  return modules
    .flatMap((module) => Object.entries<(...deps: unknown[]) => Route[]>(module))
    .flatMap(([name, make]) => (name.endsWith('Routes') ? make(running.gateway, new AbortController().signal) : []))
}

/** A value with one of its parts, or all of it, changed to anything. */
function changed(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return fc.oneof(fc.constant(value), anything)
  const parts = Object.entries(value).map(([name, part]) =>
    changed(part).map((other) => (Array.isArray(value) ? [other] : { ...value, [name]: other })),
  )
  return fc.oneof({ weight: 5, arbitrary: fc.oneof(fc.constant(value), ...parts) }, { weight: 1, arbitrary: anything })
}

function inputOf(described: OpenApi, { parameters, requestBody }: Operation): fc.Arbitrary<Asked> {
  const schema = requestBody?.content['application/json']?.schema
  return fc.record({
    path: parametersOf(parameters, 'path'),
    query: parametersOf(parameters, 'query'),
    body: schema === undefined ? fc.constant(undefined) : valuesOf(describedSchema(described, schema) as Schema),
  }) as fc.Arbitrary<Asked>
}
