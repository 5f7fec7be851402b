import type { Hono, MiddlewareHandler } from 'hono'
import * as z from 'zod'
import type { Gateway } from '../../src/gateway.ts'
import type { Keep } from '../../src/idempotency/idempotency.ts'
import { requireScope } from '../../src/identity/keys.ts'
import { parseInput } from '../../src/wire/validation.ts'
import { bodyLimit } from '../web/body-limit.ts'
import { refuseOtherMethods } from '../web/error-handler.ts'
import { callerOf, type Frame, type FrameContext } from '../web/frame-context.ts'
import { idempotent, type JsonReply } from '../web/idempotent.ts'
import { readJson, readOptionalJson } from '../web/json-body.ts'
import { readQuery } from '../web/read-query.ts'
import { noteCaller } from '../web/request-log.ts'
import type { Route } from './define-route.ts'

/**
 * Serves routes: checks the caller and the input, then answers with the result of the route. Other methods of literal
 * paths are refused here. Call {@link refuseOtherMethods} again after the last route of an app.
 *
 * @param limit counts requests of callers that only the body identifies; null for no limit
 */
export function registerRoutes(
  app: Hono<Frame>,
  { gateway, routes, limit }: { gateway: Gateway; routes: readonly Route[]; limit: MiddlewareHandler<Frame> | null },
): void {
  const register = (route: Route) => {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const answer = route.body ? withBody(route, route.body, gateway, limit) : withoutBody(route, gateway)
    app.on(route.method, path, async (c) => {
      if (route.access === 'admin' || route.access === 'platform') requireScope(callerOf(c), route.access)
      return answer(c)
    })
  }
  const isLiteral = ({ path }: Route) => !path.includes('{')
  routes.filter(isLiteral).forEach(register)
  // Before paths with an id, which would take `swarm` in GET /api/tasks/swarm for an id. Only POST exists there.
  refuseOtherMethods(app)
  routes.filter((route) => !isLiteral(route)).forEach(register)
}

/** Builds the test of a path for routes that keys with the scope inference may use, too. Their methods are checked later. */
export function inferencePaths(routes: readonly Route[]): (path: string) => boolean {
  const shared = routes.filter(({ access }) => access === 'key' || access === 'own').map(({ path }) => path)
  const literal = new Set(shared.filter((path) => !path.includes('{')))
  const patterns = shared
    .filter((path) => path.includes('{'))
    .map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`))
  return (path) => literal.has(path) || patterns.some((pattern) => pattern.test(path))
}

function withoutBody(route: Route, gateway: Gateway) {
  const read = addressReader(route)
  return async (c: FrameContext): Promise<Response> => {
    const address = read(c)
    if (route.idempotent)
      return idempotent(c, gateway, { text: '' }, async (keep) => {
        const answered = (made: unknown) => ({ status: 200, body: made })
        const kept: Keep<unknown> | undefined = keep && ((trx, made) => keep(trx, answered(made)))
        return answered(await route.run({ ...address, body: undefined, c, keep: kept }))
      })
    const reply = await route.run({ ...address, body: undefined, c, keep: undefined })
    if (reply instanceof Response) return reply
    return route.status === 204 ? c.body(null, 204) : c.json(reply as object, route.status ?? 200)
  }
}

function withBody(route: Route, schema: z.ZodType, gateway: Gateway, limit: MiddlewareHandler<Frame> | null) {
  const read = addressReader(route)
  const status = route.status === 201 ? 201 : 200
  return async (c: FrameContext): Promise<Response> => {
    const address = read(c)
    const limits = bodyLimit(gateway, c.get('identity')?.id ?? null)
    const { text, json } = await (route.optionalBody ? readOptionalJson : readJson)(c.env.incoming, limits)
    const body = parseInput(schema, json)
    if (route.identify) {
      const identity = await route.identify(body, c)
      c.set('identity', identity)
      noteCaller(c.env.incoming, { requestId: c.get('requestId'), keyId: identity.id })
      await limit?.(c, async () => {})
    }
    const answered = (made: unknown) => {
      const location = route.location?.(made)
      return {
        status,
        body: made,
        secret: route.secret !== undefined,
        headers: location === undefined ? {} : { location },
      }
    }
    const work = async (keep?: Keep<JsonReply>) =>
      answered(await route.run({ ...address, body, c, keep: keep && ((trx, made) => keep(trx, answered(made))) }))
    if (route.idempotent)
      return idempotent(c, gateway, { text, scope: route.keyScope?.(c), whereLost: route.secret }, work)
    const reply = await work()
    if (reply.body instanceof Response) return reply.body
    return c.json(reply.body as object, status, reply.headers)
  }
}

/** Creates a reader of a request's path parameters and query. */
function addressReader({ params, query }: Route) {
  let numbers: string[] | undefined
  function read(schema: z.ZodType, c: FrameContext) {
    // On the first request: for all routes it takes a twentieth of a start.
    numbers ??= numbersOf(schema)
    return parseInput(schema, readQuery(c.req, numbers))
  }
  return (c: FrameContext) => ({
    params: params ? parseInput(params, c.req.param()) : undefined,
    query: query ? read(query, c) : undefined,
  })
}

/** Finds the numeric fields of a query, because a query string contains only text. */
function numbersOf(query: z.ZodType): string[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' })
  const isNumber = (schema: unknown) =>
    typeof schema === 'object' && schema !== null && 'type' in schema && /^(number|integer)$/.test(String(schema.type))
  return Object.keys(properties).filter((name) => isNumber(properties[name]))
}
