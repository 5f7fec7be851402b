import { type Micros, toUsd } from '../text/money.ts'
import type { CountedCalls } from './counted-calls.ts'
import { type Billed, microsOf } from './decimal.ts'
import type { Reason, ReasonName } from './difference-reasons.ts'
import { grouped } from './grouped.ts'
import { namedDays } from './named-days.ts'
import type { Bill, BilledKey, BillLine } from './provider-bill.ts'

/** Part of a bill that is for one key. */
export interface BilledPart {
  key: string | null
  name: string | null
  /** False for calls past Gazeway; null when unknown. */
  is_ours: boolean | null
  usd: number
  requests: number
  prompt_tokens: number
  completion_tokens: number
}

/** Recorded calls of one key of Gazeway with one key of the provider. */
export interface CountedPart {
  /** The provider's id of its key; the upstream's name where none was known. */
  provider_key: string
  caller_id: string | null
  calls: number
  usd: number
  prompt_tokens: number
  completion_tokens: number
}

/** The bill and the records of one day, one key of the provider and one model of an account. */
export interface Comparison {
  day: string
  /** The provider's id of its key. Null for all keys together whose calls were recorded without an id. */
  provider_key: string | null
  /** The model, or the fee that belongs to none. */
  model: string
  /** Billed for keys that Gazeway has. */
  billed_usd: number
  counted_usd: number
  /** Billed less counted. */
  difference_usd: number
  /** Billed for other keys of the account: not through Gazeway. */
  elsewhere_usd: number
  /** False when nothing explains the difference. */
  is_explained: boolean
  reasons: Reason[]
  billed: BilledPart[]
  counted: CountedPart[]
}

/** Facts about a day that explain differences. */
export interface DayFacts {
  isPreliminary(day: string): boolean
  isDeleted(day: string): boolean
  /** Receipts that were capped, by day and canonical model. */
  cappedCalls(day: string, model: string): number
}

/** Largest relative difference of tokens that counts as none: counts of one call may fall on two days. */
const SAME_TOKENS = 0.001

const SNAPSHOT = /(?:-20\d\d-?[01]\d-?[0-3]\d|@20\d{6})$/

/**
 * Canonical name of a model, by which bills and records are compared: without the date of a snapshot, and without the
 * variant that OpenRouter appends.
 *
 * @example canonical('GPT-5-2025-08-07') // 'gpt-5'
 */
export const canonical = (model: string): string =>
  model
    .toLowerCase()
    .replace(/^models\//, '')
    .replace(/:[a-z]+$/, '')
    .replace(SNAPSHOT, '')

/**
 * Compares a bill with the recorded calls of its account, by day, model and key of the provider. Keys that the bill or
 * the records do not name are compared together, and a key on the days on which its calls were recorded without its id.
 */
export function compare(bill: Bill, counted: readonly CountedCalls[], facts: DayFacts): Comparison[] {
  const groups = new Map<string, Group & { lines: BillLine[]; calls: CountedCalls[] }>()
  const isNamed = namedDays(bill, counted)
  const groupOf = (day: string, model: string, id: string | null) => {
    const key = id !== null && isNamed(id, day) ? id : null
    const name = `${day} ${model} ${key ?? ''}`
    const group = groups.get(name) ?? { day, key, model, lines: [], calls: [] }
    groups.set(name, group)
    return group
  }
  for (const line of bill.lines) groupOf(line.day, modelIn(line), line.key).lines.push(line)
  for (const calls of counted) groupOf(calls.day, canonical(calls.model), calls.provider_key).calls.push(calls)
  const keys = new Map(bill.keys.map((key) => [key.id, key]))
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => comparisonOf(group, { bill, keys, facts }))
    .filter(({ billed, counted: calls }) => billed.length + calls.length > 0)
}

const modelIn = ({ model, fee }: BillLine): string => (model === null ? `(${fee ?? 'no model'})` : canonical(model))

/** Ids of keys by which calls were recorded, and which the bill does not name. */
export function idsNotBilled({ isByKey, keys }: Bill, counted: readonly CountedCalls[]): string[] {
  const billed = new Set(keys.map(({ id }) => id))
  const recorded = new Set(counted.map(({ provider_key }) => provider_key).filter((id) => id !== ''))
  return isByKey ? [...recorded].filter((id) => !billed.has(id)) : []
}

/** Lines of the bill and calls of one day, key of the provider and model. */
interface Group {
  day: string
  key: string | null
  model: string
  lines: readonly BillLine[]
  calls: readonly CountedCalls[]
}

interface Context {
  bill: Bill
  keys: ReadonlyMap<string, BilledKey>
  facts: DayFacts
}

function comparisonOf({ day, key, model, lines, calls }: Group, context: Context): Comparison {
  const { keys } = context
  const isElsewhere = ({ key }: BillLine) => key !== null && keys.get(key)?.isOurs === false
  const ours = lines.filter((line) => !isElsewhere(line))
  const billed = microsOf(amountOf(ours))
  const counted = sumOf(calls, 'micros')
  const reasons = billed === counted ? [] : reasonsOf({ day, key, model, lines: ours, calls }, context)
  return {
    day,
    provider_key: key,
    model,
    billed_usd: toUsd(billed),
    counted_usd: toUsd(counted),
    difference_usd: toUsd(billed - counted),
    elsewhere_usd: toUsd(microsOf(amountOf(lines) - amountOf(ours))),
    is_explained: billed === counted || reasons.some(({ reason }) => EXPLAINS[reason]),
    reasons,
    billed: billedParts(lines, keys),
    counted: countedParts(calls),
  }
}

/** Reasons that account for a difference by themselves. The others only say where to look. */
const EXPLAINS: Readonly<Record<ReasonName, boolean>> = {
  rounding: true,
  preliminary: true,
  deleted: true,
  unpriced: true,
  estimated: true,
  unknown: true,
  capped: false,
  fee: true,
  not_by_key: true,
  unknown_key: true,
  not_billed: false,
  not_counted: false,
  tokens: false,
  price: false,
}

const amountOf = (lines: readonly BillLine[]): Billed => lines.reduce((sum, { amount }) => sum + amount, 0n)

type Figure = Exclude<keyof CountedCalls, 'day' | 'upstream' | 'provider_key' | 'model' | 'caller_id'>

const sumOf = (calls: readonly CountedCalls[], figure: Figure): number =>
  calls.reduce((sum, row) => sum + row[figure], 0)

/** Finds the reasons for a difference between the bill of our keys and the calls. */
function reasonsOf({ day, model, lines: ours, calls }: Group, { bill, keys, facts }: Context): Reason[] {
  const made = sumOf(calls, 'calls')
  const fees = microsOf(amountOf(ours.filter(({ fee }) => fee !== null)))
  /** Counted and not billed; negative where more was billed. */
  const over = sumOf(calls, 'micros') - microsOf(amountOf(ours))
  const fee: Reason[] = fees === 0 ? [] : [{ reason: 'fee', usd: toUsd(fees) }]
  if (isRounding(over + fees, made)) return fees === 0 ? [{ reason: 'rounding', calls: made }] : fee
  const concerned = (reason: ReasonName, count: Figure, cost?: Figure): Reason[] => {
    const found = sumOf(calls, count)
    if (found === 0) return []
    return [{ reason, calls: found, ...(cost && { usd: toUsd(sumOf(calls, cost)) }) }]
  }
  const unknownKeys = microsOf(amountOf(ours.filter(({ key }) => key !== null && keys.get(key)?.isOurs === null)))
  const capped = facts.cappedCalls(day, model)
  const found: Reason[] = [
    ...(over > 0 && facts.isPreliminary(day) ? [{ reason: 'preliminary' } as const] : []),
    ...(over < 0 && facts.isDeleted(day) ? [{ reason: 'deleted' } as const] : []),
    ...concerned('unpriced', 'unpriced_calls', 'unpriced_micros'),
    ...concerned('estimated', 'estimated_calls', 'estimated_micros'),
    ...(over < 0 ? concerned('unknown', 'unknown_calls') : []),
    ...(over < 0 && !bill.isByKey ? [{ reason: 'not_by_key' } as const] : []),
    ...(unknownKeys === 0 ? [] : [{ reason: 'unknown_key', usd: toUsd(unknownKeys) } as const]),
  ]
  const hints: Reason[] = [...(capped > 0 ? [{ reason: 'capped', calls: capped } as const] : [])]
  if (found.length === 0 && calls.length === 0) hints.push({ reason: 'not_counted' })
  else if (found.length === 0 && ours.length === 0) hints.push({ reason: 'not_billed' })
  else if (found.length === 0) hints.push(...tokensOrPrice(ours, calls))
  // A fee that leaves a difference explains only its own part.
  return [...found, ...hints]
}

/** A call costs at most a micro-dollar more than it was billed, and the bill itself is rounded once. */
const isRounding = (over: Micros, calls: number): boolean => over >= -1 && over <= calls + 1

/** Tells whether the provider counted other tokens, or the same at another price. Nothing where it counts none. */
function tokensOrPrice(ours: readonly BillLine[], calls: readonly CountedCalls[]): Reason[] {
  const billed = ours.reduce((sum, line) => sum + line.prompt_tokens + line.completion_tokens, 0)
  if (billed === 0) return []
  const counted = sumOf(calls, 'prompt_tokens') + sumOf(calls, 'completion_tokens')
  return Math.abs(billed - counted) > billed * SAME_TOKENS ? [{ reason: 'tokens' }] : [{ reason: 'price' }]
}

function billedParts(lines: readonly BillLine[], keys: ReadonlyMap<string, BilledKey>): BilledPart[] {
  return [...grouped(lines, ({ key }) => key)].map(([key, of]) => {
    const total = (figure: 'requests' | 'prompt_tokens' | 'completion_tokens') =>
      of.reduce((sum, line) => sum + line[figure], 0)
    const known = key === null ? undefined : keys.get(key)
    return {
      key,
      name: known?.name ?? null,
      is_ours: known?.isOurs ?? null,
      usd: toUsd(microsOf(amountOf(of))),
      requests: total('requests'),
      prompt_tokens: total('prompt_tokens'),
      completion_tokens: total('completion_tokens'),
    }
  })
}

function countedParts(calls: readonly CountedCalls[]): CountedPart[] {
  const byKey = grouped(calls, ({ provider_key, upstream }) => provider_key || upstream)
  const byCaller = [...byKey].flatMap(([key, rows]) =>
    [...grouped(rows, ({ caller_id }) => caller_id)].map(([caller, of]) => ({ key, caller, of })),
  )
  return byCaller.map(({ key, caller, of }) => ({
    provider_key: key,
    caller_id: caller === '' ? null : caller,
    calls: sumOf(of, 'calls'),
    usd: toUsd(sumOf(of, 'micros')),
    prompt_tokens: sumOf(of, 'prompt_tokens'),
    completion_tokens: sumOf(of, 'completion_tokens'),
  }))
}
