import * as z from 'zod'
import { VERSION } from '../../src/config/version.ts'
import type { Access, Route } from './define-route.ts'
import { type JsonSchema, type NamedSchemas, namedSchemas } from './named-schemas.ts'
import { SCHEMA_NAMES } from './schema-names.ts'

/** Content of a body by media type. */
type Content = Record<string, { schema: JsonSchema; example?: unknown }>

/** Operation in OpenAPI 3.1, with the fields that are used here. */
export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, unknown>
}

/** A parameter outside the body, as in OpenAPI. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: JsonSchema
  example?: string | number
}

/** An OpenAPI 3.1 document. */
export interface OpenApi {
  openapi: '3.1.0'
  info: {
    title: string
    version: string
    description: string
    license: { name: string; identifier: string }
    contact: { name: string; url: string }
  }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema>; [kind: string]: Record<string, unknown> }
}

/** Example of an operation: what a test sent, and the reply to it. */
export interface Example {
  /** Path with its query. */
  path: string
  request?: unknown
  reply?: unknown
}

/** Parts of a route that are described. */
export type DescribedRoute = Omit<Route, 'access' | 'method' | 'run'> & {
  method: string
  group: string
  access: Access | 'inference'
}

/** Parts of a description besides its routes. */
export interface Described {
  title: string
  description: string
  /** Descriptions of the groups of routes, by name. */
  tags: Readonly<Record<string, string>>
  /** Examples by operation. */
  examples: Readonly<Record<string, Example>>
  /** Operations that are no routes, by path and method. */
  others?: OpenApi['paths']
}

const ErrorReply = z.object({
  error: z.object({
    code: z.string().describe('Error code for programs'),
    message: z.string().describe('Cause and remedy, for people'),
    type: z.string(),
    param: z.string().nullable().describe('The field at fault, as a dotted path'),
    request_id: z.string().nullable(),
    doc_url: z.string().describe('Path of the documentation of the code, on this service'),
  }),
})

const ACCESS: Readonly<Record<DescribedRoute['access'], { security: Record<string, string[]>[]; words: string }>> = {
  open: { security: [{}], words: 'Needs no key.' },
  caller: { security: [{}, { key: [] }], words: 'The body names the caller, and proves it.' },
  platform: { security: [{ key: [] }], words: 'Needs a key with the scope platform.' },
  key: {
    security: [{ key: [] }],
    words: 'Needs a key with the scope platform or inference. On the gateway port, too.',
  },
  own: { security: [{ key: [] }], words: 'Needs a key with the scope platform or inference.' },
  inference: { security: [{ key: [] }], words: 'Needs a key with the scope inference.' },
  admin: { security: [{ key: [] }], words: 'Needs a key with the scope admin.' },
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request idempotent. For 24 h, a retry with the same key and body gets the first reply, with the ' +
    'header idempotent-replayed.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const SHARED_NAMES = new Set(SCHEMA_NAMES.values())

/** Methods listed for the passage to the agent gateway. The passage accepts any method; OpenAPI has names for these. */
const PASSED_METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const
const WITH_BODY: readonly string[] = ['post', 'put', 'patch']
/** JSON of any kind, for typed clients, and any other media type. */
const ANYTHING = { ...json({}), '*/*': { schema: {} } }

/** Describes an API by its routes. */
export function openApi(routes: readonly DescribedRoute[], about: Described): OpenApi {
  const named = namedSchemas()
  const paths: OpenApi['paths'] = {}
  for (const route of routes) {
    const operations = paths[route.path] ?? {}
    operations[route.method.toLowerCase()] = operationOf(route, named, about.examples[route.operation])
    paths[route.path] = operations
  }
  Object.assign(paths, about.others)
  const error = named.refer(ErrorReply, 'output', 'Error')
  const tags = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((one) => one.tags)))
  return {
    openapi: '3.1.0',
    info: {
      title: about.title,
      version: VERSION,
      description: about.description,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Gazeway', url: 'https://github.com/gazeway/gazeway' },
    },
    servers: [{ url: '/' }],
    tags: [...tags].map((name) => ({ name, description: about.tags[name] ?? name })),
    paths,
    components: {
      schemas: named.components,
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key: gzw_…' } },
      responses: {
        Refused: { description: 'The request was refused. The message says what to do.', content: json(error) },
        Failed: { description: 'The service or the provider failed. Retry later.', content: json(error) },
      },
    },
  }
}

const FAULTS = {
  '4XX': { $ref: '#/components/responses/Refused' },
  '5XX': { $ref: '#/components/responses/Failed' },
}

function operationOf(route: DescribedRoute, named: NamedSchemas, example: Example | undefined): Operation {
  const { operation, group, summary, description, access, params, query, body, reply, status = 200 } = route
  const required = !route.optionalBody
  const also = (route.alsoAnswers ?? []).map((type) => [type, { schema: { type: 'string' } }] as const)
  const name = operation.charAt(0).toUpperCase() + operation.slice(1)
  const noun = name.startsWith('Get') && !SHARED_NAMES.has(name.slice(3)) ? name.slice(3) : `${name}Reply`
  return {
    operationId: operation,
    tags: [group],
    summary,
    description: [description, ACCESS[access].words].filter(Boolean).join(' '),
    security: ACCESS[access].security,
    parameters: [
      ...(params ? parametersOf(params, 'path', named, pathValues(route.path, example)) : []),
      ...(query ? parametersOf(query, 'query', named, queryValues(example)) : []),
      ...(route.idempotent ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body && {
      requestBody: { required, content: json(named.refer(body, 'input', `${name}Body`), example?.request) },
    }),
    responses: {
      [status]: {
        description: summary,
        ...(status !== 204 && {
          content: { ...json(named.refer(reply, 'output', noun), example?.reply), ...Object.fromEntries(also) },
        }),
      },
      ...FAULTS,
    },
  }
}

/** Describes the passage of `/v1` to the agent gateway. */
export const passages = (): OpenApi['paths'] => ({
  '/v1/{path}': Object.fromEntries(PASSED_METHODS.map((method) => [method, passage(method)])),
})

function passage(method: string): Operation {
  return {
    operationId: `${method}Passed`,
    tags: ['Agent gateway'],
    summary: 'Forward to the agent gateway unchanged',
    description: `Method, path, query, body and status are forwarded unchanged, streams included. ${ACCESS.platform.words}`,
    security: ACCESS.platform.security,
    parameters: [
      { name: 'path', in: 'path', required: true, description: 'Everything after /v1/', schema: { type: 'string' } },
    ],
    ...(WITH_BODY.includes(method) && { requestBody: { required: false, content: ANYTHING } }),
    responses: {
      '2XX': { description: 'Reply of the agent gateway.', ...(method !== 'head' && { content: ANYTHING }) },
      ...FAULTS,
    },
  }
}

function parametersOf(
  schema: z.ZodType,
  place: 'path' | 'query',
  named: NamedSchemas,
  examples: Readonly<Record<string, string>>,
): Parameter[] {
  const { properties = {}, required = [] } = named.convert(schema, 'input')
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', ...rest } = property as JsonSchema
    const example = examples[name]
    const parameter = { name, in: place, required: required.includes(name), description, schema: rest }
    return { ...parameter, ...(example !== undefined && { example: typed(example, rest) }) }
  })
}

/** Values of a path's parameters in an example. */
function pathValues(path: string, example: Example | undefined): Record<string, string> {
  const given = example?.path.split('?')[0]?.split('/') ?? []
  const names = path.split('/').map((part) => /^\{(\w+)\}$/.exec(part)?.[1])
  return Object.fromEntries(names.flatMap((name, i) => (name && given[i] ? [[name, given[i]]] : [])))
}

const queryValues = (example: Example | undefined): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(example?.path.split('?')[1] ?? ''))

/** Converts the text of a query to the type that its schema describes. */
const typed = (text: string, { type }: JsonSchema): string | number =>
  type === 'integer' || type === 'number' ? Number(text) : text

function json(schema: JsonSchema, example?: unknown): Content {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}
