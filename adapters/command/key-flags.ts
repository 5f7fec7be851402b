import * as z from 'zod'
import { GazewayError } from '../../src/errors.ts'
import { Alerts } from '../../src/identity/alert-thresholds.ts'
import { Period } from '../../src/identity/budgets.ts'
import { type KeyChange, Limits, ModelGlob } from '../../src/identity/key.ts'
import { Repeats, SESSION_LIMITS } from '../../src/identity/session-limits.ts'
import { DURATION, durationMs } from '../../src/text/duration.ts'
import { Amount, AmountAboveZero } from '../../src/text/money.ts'
import { PERIOD_NAMES } from '../../src/text/period.ts'
import { accepts } from '../../src/text/schema-in-words.ts'
import { checked } from './flag-value.ts'

/** Limits of each session of a key or group, as commander names their flags. */
export interface SessionFlags {
  /** Budget in USD. */
  session?: string
  sessionCalls?: string
  sessionMinutes?: string
  /** Such as `5/10`: times and minutes. */
  repeats?: string
}

/** Limits of a key, as commander names their flags. An absent flag is undefined. */
export interface LimitFlags extends SessionFlags {
  credit?: string
  /** Each such as `5/day`. */
  budget?: string[]
  requestsPerMinute?: string
  tokensPerMinute?: string
  concurrent?: string
}

type LimitChange = NonNullable<z.input<typeof KeyChange>['limits']>
type SessionChange = Pick<LimitChange, keyof typeof SESSION_LIMITS>
type BudgetChange = NonNullable<LimitChange['budgets']>

/** Flag value that removes a limit. */
const NONE = 'none'
/** Flag value that removes the expiry. */
const NEVER = 'never'
/** Flag value that allows all models. */
const ALL = 'all'

/** Reads the limits that flags set. A limit without a flag is absent. @throws as {@link checked} */
export function limitsIn({
  credit,
  budget,
  requestsPerMinute,
  tokensPerMinute,
  concurrent,
  ...session
}: LimitFlags): LimitChange {
  return {
    ...(credit !== undefined && { credit_limit_usd: credit === NONE ? null : amountIn('--credit', Amount, credit) }),
    ...(budget !== undefined && { budgets: budgetsIn(budget) }),
    ...(requestsPerMinute !== undefined && {
      requests_per_minute: limitIn('--requests-per-minute', Limits.shape.requests_per_minute, requestsPerMinute),
    }),
    ...(tokensPerMinute !== undefined && {
      tokens_per_minute: limitIn('--tokens-per-minute', Limits.shape.tokens_per_minute, tokensPerMinute),
    }),
    ...(concurrent !== undefined && { concurrent: limitIn('--concurrent', Limits.shape.concurrent, concurrent) }),
    ...sessionLimitsIn(session),
  }
}

/** Reads the limits of sessions that flags set. @throws as {@link checked} */
export function sessionLimitsIn({ session, sessionCalls, sessionMinutes, repeats }: SessionFlags): SessionChange {
  const { session_calls, session_minutes } = SESSION_LIMITS
  return {
    ...(session !== undefined && {
      session_usd: session === NONE ? null : amountIn('--session', AmountAboveZero, session, SESSION),
    }),
    ...(sessionCalls !== undefined && { session_calls: limitIn('--session-calls', session_calls, sessionCalls) }),
    ...(sessionMinutes !== undefined && {
      session_minutes: limitIn('--session-minutes', session_minutes, sessionMinutes),
    }),
    ...(repeats !== undefined && { repeats: repeats === NONE ? null : repeatsIn(repeats) }),
  }
}

/** Parses budgets such as `5/day`. A single `none` gives no budgets. @throws as {@link checked} */
export function budgetsIn(texts: readonly string[]): BudgetChange {
  if (texts.length === 1 && texts[0] === NONE) return []
  const budgets = texts.map((text) => {
    const [usd = '', per = '', ...rest] = text.split('/')
    const period = Period.safeParse(per)
    if (!period.success || rest.length > 0) throw notAccepted('--budget', BUDGET)
    return { usd: amountIn('--budget', AmountAboveZero, usd, BUDGET), per: period.data }
  })
  if (new Set(budgets.map(({ per }) => per)).size < budgets.length)
    throw notAccepted('--budget', `${BUDGET}; each period once`)
  return budgets
}

/** Parses alerts such as `80%`. A single `none` gives no alerts. @throws as {@link checked} */
export function alertsIn(texts: readonly string[]): z.input<typeof Alerts> {
  if (texts.length === 1 && texts[0] === NONE) return []
  const alerts = texts.map((text) => ({ at: /^\d{1,3}%$/.test(text) ? Number(text.slice(0, -1)) / 100 : 0 }))
  const result = Alerts.safeParse(alerts)
  if (result.success) return result.data
  throw notAccepted('--alert', `${NONE}, or from 1% to 100%; at most 10, each once`)
}

const BUDGET = `${NONE}, or USD/PERIOD with an ${accepts(AmountAboveZero).replace(/^an /, '')} and ${PERIOD_NAMES.join(', ')}, such as 5/day`

/** Parses `5/10`: five times within ten minutes. */
function repeatsIn(text: string): z.infer<typeof Repeats> {
  const [times, minutes] = /^(\d{1,4})\/(\d{1,4})$/.exec(text)?.slice(1).map(Number) ?? []
  const result = Repeats.safeParse({ times, minutes })
  if (result.success) return result.data
  throw notAccepted('--repeats', `${NONE}, or TIMES/MINUTES: 2 to 1000 times within 1 to 1440 minutes, such as 5/10`)
}

const SESSION = `${NONE}, or ${accepts(AmountAboveZero)} in USD, such as 2`

/** Parses comma-separated globs; `all` allows all models. @throws as {@link checked} */
export const modelsIn = (text: string): string[] | null =>
  text === ALL ? null : text.split(',').map((glob) => checked('--models', ModelGlob, glob.trim()))

/** Parses the expiry of a key: a duration from now, a time, or `never`. @throws as {@link checked} */
export function endIn(text: string, now: Date): string | null {
  if (text === NEVER) return null
  const accepted = `${NEVER}, ${DURATION}, or a future time such as 2027-01-31T00:00:00Z`
  const ms = durationMs(text)
  const end = ms === null ? timeIn(text) : now.getTime() + ms
  if (end === null || end <= now.getTime()) throw notAccepted('--expires', accepted)
  return new Date(end).toISOString()
}

/** Parses a grace period; the result is in seconds. @throws as {@link checked} */
export function graceIn<S extends z.ZodType>(text: string, seconds: S): z.output<S> {
  const ms = text === '0' ? 0 : durationMs(text)
  const result = seconds.safeParse(ms === null ? null : ms / 1000)
  if (!result.success) throw notAccepted('--grace', `${DURATION}; at most 30d, and 0 for none`)
  return result.data
}

/** Converts a time with its offset to milliseconds since 1970. */
function timeIn(text: string): number | null {
  return z.iso.datetime({ offset: true }).safeParse(text).success ? Date.parse(text) : null
}

function limitIn(flag: string, schema: z.ZodType<number | null>, text: string): number | null {
  if (text === NONE) return null
  const result = /^\d{1,15}$/.test(text) ? schema.safeParse(Number(text)) : undefined
  if (result?.success) return result.data
  throw notAccepted(flag, `${NONE}, or ${accepts(schema).replace(/ or null$/, '')}`)
}

/** Parses a count. @throws as {@link checked} */
export function countIn(flag: string, schema: z.ZodType<number>, text: string): number {
  const result = /^\d{1,15}$/.test(text) ? schema.safeParse(Number(text)) : undefined
  if (result?.success) return result.data
  throw notAccepted(flag, accepts(schema))
}

/**
 * Parses an amount with at most 6 decimals. More decimals are refused, because rounding would change the amount.
 *
 * @throws as {@link checked}
 */
export function amountIn(flag: string, schema: z.ZodType<number>, text: string, accepted = accepts(schema)): number {
  const amount = /^\d{1,15}(\.\d{1,6})?$/.test(text) ? schema.safeParse(Number(text)) : undefined
  if (amount?.success) return amount.data
  throw notAccepted(flag, accepted)
}

const notAccepted = (flag: string, accepted: string): GazewayError =>
  new GazewayError('validation_failed', `${flag}: invalid value; must be ${accepted}.`, { param: flag })
