import type * as z from 'zod'
import type { Keep } from '../../src/idempotency/idempotency.ts'
import type { Identity } from '../../src/identity/keys.ts'
import type { FrameContext } from '../web/frame.ts'

/**
 * Access to a route: `open` to everyone; `caller` for the caller that the body names and proves; `platform` for keys
 * with that scope; `admin` for admins' keys.
 */
export type Access = 'open' | 'caller' | 'platform' | 'admin'

/** Validated input of a route. */
export interface RouteInput<Params, Query, Body, Reply> {
  params: Params
  query: Query
  body: Body
  c: FrameContext
  /** Keeps the reply for those who repeat the request; undefined without an `Idempotency-Key`. */
  keep: Keep<Reply> | undefined
}

/**
 * One operation of the platform: its schemas check what comes in, and describe it in `/openapi.json` and `/docs`.
 *
 * @template P parameters in the path
 * @template Q the query; without a schema, whatever is sent there is ignored
 * @template B the JSON body
 * @template R the reply's body
 */
interface RouteDefinition<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** In OpenAPI's form: `/api/keys/{id}` */
  path: string
  /** The group that it is shown in. */
  tag: string
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
  /** Media types that it answers beside JSON, by `Accept`. */
  alsoAnswers?: readonly string[]
  /** An `Idempotency-Key` makes the route idempotent. */
  idempotent?: boolean
  /** Owner of the `Idempotency-Key`; undefined for the caller, null for nobody, which stores nothing. */
  keyScope?(c: FrameContext): string | null | undefined
  /** The reply holds a secret, so it is never kept to be repeated: what to do where it did not arrive. */
  secret?: string
  /** Value of the `location` header. A repeated request with a secret reply receives it too. */
  location?(made: z.input<R>): string
  /** For `access: 'caller'`: who the body says is calling. @throws GazewayError `invalid_api_key` when it proves nothing */
  identify?(body: z.output<B>, c: FrameContext): Promise<Identity>
  /** @returns the reply's body, or a reply of its own */
  run(input: RouteInput<z.output<P>, z.output<Q>, z.output<B>, z.input<R>>): Promise<z.input<R> | Response>
}

/** A route, whatever its schemas. */
export type Route = RouteDefinition<z.ZodType, z.ZodType, z.ZodType, z.ZodType>

/** Ties a route's types together. */
export function defineRoute<
  R extends z.ZodType,
  P extends z.ZodType = z.ZodUndefined,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<P, Q, B, R>): Route {
  return definition as unknown as Route
}
