import type * as z from 'zod'
import type { Keep } from '../../src/idempotency/idempotency.ts'
import type { Identity } from '../../src/identity/keys.ts'
import type { FrameContext } from '../web/frame-context.ts'

/**
 * Access to a route:
 *
 * - `open`: everyone
 * - `caller`: the caller that the body names and proves
 * - `platform`: keys with that scope
 * - `key`: keys with the scope platform or inference, on the ports of both
 * - `own`: keys with the scope platform or inference, which see their own records alone
 * - `admin`: keys of admins
 */
export type Access = 'open' | 'caller' | 'platform' | 'key' | 'own' | 'admin'

/** Validated input of a route. */
export interface RouteInput<Params, Query, Body, Reply> {
  params: Params
  query: Query
  body: Body
  c: FrameContext
  /** Stores the reply for replays. Undefined without an `Idempotency-Key`. */
  keep: Keep<Reply> | undefined
}

/**
 * Operation of the platform. Its schemas validate the input, and describe it in `/openapi.json` and `/docs`.
 *
 * @template P parameters in the path
 * @template Q the query; without a schema, the query is ignored
 * @template B the JSON body
 * @template R body of the reply
 */
interface RouteDefinition<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  /** Name of the operation for clients' code, a verb and a noun: `rotateKey`. */
  operation: string
  /** One-line summary. */
  summary: string
  /** Further documentation for callers. */
  description?: string
  access: Access
  params?: P
  query?: Q
  body?: B
  /** The body is optional and defaults to `{}`. */
  optionalBody?: boolean
  reply: R
  /** Status of a reply; 200 when absent. A reply of 204 has no body. */
  status?: 200 | 201 | 204
  /** Media types of the reply besides JSON, selected by `Accept`. */
  alsoAnswers?: readonly string[]
  /** An `Idempotency-Key` makes the route idempotent. */
  idempotent?: boolean
  /** Owner of the `Idempotency-Key`; undefined for the caller, null for nobody, which stores nothing. */
  keyScope?(c: FrameContext): string | null | undefined
  /**
   * The reply contains a secret and is never stored for replays. The text tells a client what to do if the reply was
   * lost.
   */
  secret?: string
  /** Value of the `location` header. A repeated request with a secret reply also receives it. */
  location?(made: z.input<R>): string
  /**
   * For `access: 'caller'`: identifies the caller that the body names.
   *
   * @throws GazewayError `invalid_api_key` without a proof
   */
  identify?(body: z.output<B>, c: FrameContext): Promise<Identity>
  /** @returns the body of the reply, or a complete reply */
  run(input: RouteInput<z.output<P>, z.output<Q>, z.output<B>, z.input<R>>): Promise<z.input<R> | Response>
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** Route with any schemas. */
export interface Route extends RouteDefinition<z.ZodType, z.ZodType, z.ZodType, z.ZodType> {
  method: Method
  /** In OpenAPI's form: `/api/keys/{id}` */
  path: string
}

/** A route in its group of the documentation. */
export interface GroupedRoute extends Route {
  group: string
}

/**
 * Ties a route's types together.
 *
 * @param at method and path, the path in OpenAPI's form: `GET /api/keys/{id}`
 */
export function defineRoute<
  R extends z.ZodType,
  P extends z.ZodType = z.ZodUndefined,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
>(at: `${Method} /${string}`, definition: RouteDefinition<P, Q, B, R>): Route {
  const [method, path] = at.split(' ')
  return { ...definition, method, path } as unknown as Route
}
