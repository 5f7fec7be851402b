import type { paths } from './api-types.ts'

type Method = 'get' | 'post' | 'patch' | 'delete'

/** Content of JSON. */
interface Json<Body> {
  content: { 'application/json': Body }
}

/** Paths of the description that have a method. */
type Served<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never
}[keyof paths]

/** A path with any values: `/api/tasks/{id}` → `/api/tasks/${string}`. */
type Filled<P extends string> = P extends `${infer Start}{${string}}${infer Rest}`
  ? `${Start}${string}${Filled<Rest>}`
  : P

/** Paths that can be requested with a method, with or without a query. */
export type ApiPath<M extends Method> = Filled<Served<M>> | `${Filled<Served<M>>}?${string}`

type WithoutQuery<Asked extends string> = Asked extends `${infer Path}?${string}` ? Path : Asked

/** The path of the description that a request leads to. */
type Described<M extends Method, Asked extends string> = {
  [P in Served<M>]: [Asked] extends [Filled<P>] ? ([Filled<P>] extends [Asked] ? P : never) : never
}[Served<M>]

type OperationOf<M extends Method, Asked extends string> = paths[Described<M, WithoutQuery<Asked>>][M]

/** Reply to a request, as the API's description has it. */
export type ReplyOf<M extends Method, Asked extends string> =
  OperationOf<M, Asked> extends { responses: infer Replies }
    ? Replies extends { 200: Json<infer Body> } | { 201: Json<infer Body> }
      ? Body
      : undefined
    : never

/**
 * Body of a request with the fields that the API's description has. A value may be any: forms send what was entered, and
 * the API says what is wrong with it.
 */
export type FieldsOf<M extends Method, Asked extends string> =
  OperationOf<M, Asked> extends { requestBody?: infer Body }
    ? NonNullable<Body> extends Json<infer Sent>
      ? AnyValues<Sent>
      : object
    : object

type AnyValues<Sent> = Sent extends object ? { [Field in keyof Sent]?: unknown } : Sent
