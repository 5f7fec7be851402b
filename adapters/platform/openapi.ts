import * as z from 'zod'
import { VERSION } from '../../src/config/version.ts'
import type { Access, GroupedRoute } from './define-route.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

/** Operation in OpenAPI 3.1, with the fields that are used here. */
export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, unknown>
}

/** A parameter outside the body, as in OpenAPI. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: JsonSchema
}

/** An OpenAPI 3.1 document. */
export interface OpenApi {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
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

const ACCESS: Readonly<Record<Access, { security: Record<string, string[]>[]; words: string }>> = {
  open: { security: [{}], words: 'Needs no key.' },
  caller: { security: [{}, { key: [] }], words: 'The body names the caller, and proves it.' },
  platform: { security: [{ key: [] }], words: 'Needs a key with the scope platform.' },
  key: {
    security: [{ key: [] }],
    words: 'Needs a key with the scope platform or inference. On the gateway port, too.',
  },
  own: { security: [{ key: [] }], words: 'Needs a key with the scope platform or inference.' },
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

/** Methods listed for the passage to the agent gateway. The passage accepts any method; OpenAPI has names for these. */
const PASSED_METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const
const WITH_BODY: readonly string[] = ['post', 'put', 'patch']
/** JSON of any kind, for typed clients, and any other media type. */
const ANYTHING = { ...json({}), '*/*': { schema: {} } }

/** Describes routes, and the passage of `/v1` to the agent gateway. */
export function openApi(routes: readonly GroupedRoute[]): OpenApi {
  const paths: OpenApi['paths'] = {}
  for (const route of routes) {
    const operations = paths[route.path] ?? {}
    operations[route.method.toLowerCase()] = operationOf(route)
    paths[route.path] = operations
  }
  paths['/v1/{path}'] = Object.fromEntries(PASSED_METHODS.map((method) => [method, passage(method)]))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gazeway platform',
      version: VERSION,
      description: 'Metered model calls, and services for agents and their frontends.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key: gzw_…' } },
      responses: {
        Error: { description: 'The request was rejected or failed.', content: json(schemaOf(ErrorReply, 'output')) },
      },
    },
  }
}

function operationOf(route: GroupedRoute): Operation {
  const { method, path, group, summary, description, access, params, query, body, reply, status = 200 } = route
  const required = !route.optionalBody
  const also = (route.alsoAnswers ?? []).map((type) => [type, { schema: { type: 'string' } }] as const)
  return {
    operationId: operationId(method, path),
    tags: [group],
    summary,
    description: [description, ACCESS[access].words].filter(Boolean).join(' '),
    security: ACCESS[access].security,
    parameters: [
      ...(params ? parametersOf(params, 'path') : []),
      ...(query ? parametersOf(query, 'query') : []),
      ...(route.idempotent ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body && { requestBody: { required, content: json(schemaOf(body, 'input')) } }),
    responses: {
      [status]: {
        description: summary,
        ...(status !== 204 && { content: { ...json(schemaOf(reply, 'output')), ...Object.fromEntries(also) } }),
      },
      default: { $ref: '#/components/responses/Error' },
    },
  }
}

function passage(method: string): Operation {
  return {
    operationId: `${method}V1`,
    tags: ['Agent gateway'],
    summary: 'Forward to the agent gateway unchanged',
    description: `Method, path, query, body and status are forwarded unchanged, streams included. ${ACCESS.platform.words}`,
    security: ACCESS.platform.security,
    parameters: [
      { name: 'path', in: 'path', required: true, description: 'Everything after /v1/', schema: { type: 'string' } },
    ],
    ...(WITH_BODY.includes(method) && { requestBody: { required: false, content: ANYTHING } }),
    responses: {
      default: { description: 'Reply of the agent gateway.', ...(method !== 'head' && { content: ANYTHING }) },
    },
  }
}

function parametersOf(schema: z.ZodType, place: 'path' | 'query'): Parameter[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'input')
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', ...rest } = property as JsonSchema
    return { name, in: place, required: required.includes(name), description, schema: rest }
  })
}

/** Converts a schema to JSON Schema. The `accepted` text becomes the description when there is no other. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...described } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ jsonSchema }) {
      const { accepted } = jsonSchema
      delete jsonSchema.accepted
      if (typeof accepted === 'string') jsonSchema.description ??= `Must be ${accepted}.`
    },
  })
  return described
}

function json(schema: JsonSchema): Record<string, { schema: JsonSchema }> {
  return { 'application/json': { schema } }
}

/** `GET /api/gateway-status` → `getApiGatewayStatus` */
function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter(Boolean)
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
