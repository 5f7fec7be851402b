import type * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { shorten } from '../text/cut.ts'
import { acceptedAt, fieldsAt, namesAt } from '../text/schema-in-words.ts'

/** Longest list in an input. Validation stops at the first longer one. */
export const LIST_LIMIT = 10_000
/** Faults collected; the message names the first three. */
const ENOUGH_FAULTS = 100
const MAX_FAULTS = 3
const MAX_NAME = 80
const MAX_MESSAGE = 1000

interface Fault {
  path: readonly PropertyKey[]
  problem: string
  /** Describes the accepted input, where the path is not in the schema (an unknown field, the key of a record). */
  accepted?: () => string
  /** Known field that an unknown one is nearest to. */
  near?: () => string | undefined
}

/** Reasons for a rejected input, for the caller. */
export interface Explanation {
  /** First field at fault, dotted (`records.3.dwell_ms`). Null when the value as a whole is wrong. */
  param: string | null
  /** `FIELD: problem; must be …` for at most three fields. Never contains the rejected value. */
  message: string
}

/**
 * Validates input from outside, on every surface.
 *
 * @throws GazewayError `validation_failed` with the first field at fault in `param`
 * @example
 * import * as z from 'zod'
 * const { limit } = parseInput(z.object({ limit: z.int().max(100) }), { limit: 10 })
 */
export function parseInput<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const { param, message } = explain(result.error, schema, value)
  throw new GazewayError('validation_failed', message, param === null ? {} : { param })
}

/**
 * Explains why a value was rejected and what is accepted. Names field names and kinds only, since a value may be a
 * secret.
 *
 * @param options.name name for the value itself, when none of its fields is at fault
 * @param options.nearest known field that an unknown one is nearest to, both dotted
 */
export function explain(
  error: z.ZodError,
  schema: z.ZodType,
  value: unknown,
  { name = 'input', nearest }: { name?: string; nearest?: (unknown: string) => string } = {},
): Explanation {
  const found: Fault[] = []
  for (const fault of faultsOf(error.issues, [])) if (found.push(fault) === ENOUGH_FAULTS) break
  const faults = distinct(found)
  const described = faults.slice(0, MAX_FAULTS).map((fault) => {
    const accepted = fault.accepted?.() ?? acceptedAt(schema, fault.path)
    const near = fault.near?.()
    const hint = near === undefined ? '' : ` The nearest is ${near}.`
    return `${dotted(fault.path) ?? name}: ${fault.problem}${accepted ? `; must be ${accepted}` : ''}.${hint}`
  })
  const more = found.length < ENOUGH_FAULTS ? '' : 'At least '
  if (faults.length > MAX_FAULTS) described.push(`${more}${faults.length - MAX_FAULTS} more.`)
  return { param: dotted(faults[0]?.path ?? []), message: shorten(described.join(' '), MAX_MESSAGE) }

  function* faultsOf(issues: readonly z.core.$ZodIssue[], base: readonly PropertyKey[]): Generator<Fault> {
    for (const issue of issues) {
      const path = [...base, ...issue.path]
      const entered = issue.code === 'invalid_union' && issue.errors.find((branch) => branch.some(isInside))
      if (entered) yield* faultsOf(entered, path)
      else if (issue.code === 'unrecognized_keys') {
        const accepted = () => `one of ${fieldsAt(schema, path)}`
        for (const key of issue.keys) {
          const field = [...path, key]
          const near = () => nearest?.(dotted(field) ?? key)
          yield { path: field, problem: 'unknown field', accepted, near }
        }
      } else if (issue.code === 'invalid_key')
        yield { path, problem: 'invalid name', accepted: () => namesAt(schema, path) }
      else yield { path, problem: problemOf(issue, valueAt(value, path)) }
    }
  }
}

/** Removes repeated faults: the branches of a union report the same ones. */
function distinct(faults: readonly Fault[]): Fault[] {
  const seen = new Set<string>()
  return faults.filter(({ path, problem }) => seen.size < seen.add(JSON.stringify([path.map(String), problem])).size)
}

/** Returns true when an issue in a branch of a union shows that the value was meant for that branch. */
function isInside(issue: z.core.$ZodIssue): boolean {
  return issue.path.length > 0 || issue.code === 'unrecognized_keys'
}

function problemOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined && issue.code !== 'custom') return 'missing'
  switch (issue.code) {
    case 'too_small':
      return typeof value === 'number' ? 'too small' : 'too short'
    case 'too_big':
      return typeof value === 'number' ? 'too large' : 'too long'
    case 'invalid_value':
      return 'invalid value'
    case 'not_multiple_of':
      return 'too many decimals'
    case 'custom':
      return issue.message === 'Invalid input' ? 'invalid value' : issue.message
    case 'invalid_format':
      return 'invalid format'
    default:
      return issue.code === 'invalid_type' && issue.expected === 'int' && Number.isFinite(value)
        ? 'not a whole number'
        : `got ${kindOf(value)}`
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  // JSON has no infinity. A number too large for a double is parsed as one.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is too large'
  const kinds: Record<string, string> = {
    string: 'text',
    number: 'a number',
    boolean: 'a boolean',
    object: 'an object',
  }
  return kinds[typeof value] ?? typeof value
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], root)
}

function dotted(path: readonly PropertyKey[]): string | null {
  if (path.length === 0) return null
  return shorten(
    path
      .map(String)
      .join('.')
      .replace(/\p{Cc}/gu, '?'),
    MAX_NAME,
  )
}
