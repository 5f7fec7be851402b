import * as z from 'zod'
import { GazewayError } from '../../errors.ts'
import { LIST_LIMIT } from '../../wire/validation.ts'

/** A JSON Schema as a request carries it. */
export const SchemaObject = z.record(z.string(), z.unknown())

/** Content of a message: a string, or parts. Only text parts count. */
export const Content = z.union([
  z.string(),
  z
    .array(z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() }))
    .max(LIST_LIMIT),
])

/** Text of a message's content, one line per part. Images and files have none. */
export function contentText(content: z.infer<typeof Content> | null | undefined): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  return content
    .map((part) => part.text ?? part.refusal ?? '')
    .filter((text) => text !== '')
    .join('\n')
}

/**
 * Parses the body of a request.
 *
 * @throws GazewayError `invalid_json`
 */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new GazewayError('invalid_json', 'The request body is not valid JSON.', { cause })
  }
}

/**
 * Validates `body` with `schema`.
 *
 * @throws GazewayError `invalid_request` naming the field at fault in `param`
 */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const param = issue?.path.join('.') ?? ''
  if (param === '') throw new GazewayError('invalid_request', 'The request body must be a JSON object.')
  throw new GazewayError('invalid_request', `Invalid value for '${param}': ${issue?.message}.`, { param })
}
