import { sql } from 'kysely'
import { NOT_IN_TIME, TOO_LARGE } from '../../calls/call-errors.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { dayOf } from './spending.ts'

/** Days, today among them, over which what a key has paid is compared with what was borne for it. */
const PAID_DAYS = 7
const DAY_MS = 86_400_000
/** Statuses of refusals that are about the operator's key, or about the moment: the client has not provoked them. */
const NOT_OF_CLIENT: ReadonlySet<number> = new Set([401, 403, 408, 409, 425, 429])

/** Causes of what the operator has borne for a caller on a day. */
export interface BorneCauses {
  /** Part that the caller left, or its models caused by ignoring a limit. */
  causedMicros: Micros
  /** Part for answers, and hidden parts of them, that the caller left, and requests that the provider refused and billed. */
  unreadMicros: Micros
  /** Names and ids of the models that ignored a limit. */
  ignoring: ReadonlySet<string>
  /**
   * Part for answers that did not come in time or were too large, and for replies that were discarded before an answer that
   * was paid, and their models. None while the caller pays as much as is borne for it: an honest key of a slow or flaky
   * provider does, and one that provokes them gains nothing.
   */
  provoked: { micros: Micros; models: ReadonlySet<string> }
}

/** Causes of an amount that has not reached the bound. */
export const NOT_READ: BorneCauses = {
  causedMicros: 0,
  unreadMicros: 0,
  ignoring: new Set(),
  provoked: { micros: 0, models: new Set() },
}

/** A sum of receipts of one kind. */
interface Part {
  requested: string
  upstream: string | null
  capped: number
  charged: number
  status: string | null
  http_status: number | null
  is_provoked: number
  micros: number
}

/** Reads why the operator has borne something for a caller on a day. */
export async function readCauses(store: Store, callerId: string, day: string): Promise<BorneCauses> {
  const parts = await partsOf(store, callerId, day)
  const capped = parts.filter((part) => part.capped === 1)
  const discarded = parts.filter(isOfDiscarded)
  const left = parts.filter(
    (part) =>
      !discarded.includes(part) && (part.status === 'aborted' || part.status === 'ok' || isOfClient(part.http_status)),
  )
  const provoked = parts.filter(
    (part) => discarded.includes(part) || (part.is_provoked === 1 && !capped.includes(part) && !left.includes(part)),
  )
  const isFree = provoked.length > 0 && !(await isPaidFor(store, callerId, day))
  return {
    causedMicros: sumOf(parts.filter((part) => capped.includes(part) || left.includes(part))),
    unreadMicros: sumOf(left.filter((part) => part.capped === 0 || part.charged === 0)),
    ignoring: namesOf(capped),
    provoked: isFree ? { micros: sumOf(provoked), models: namesOf(provoked) } : NOT_READ.provoked,
  }
}

function partsOf({ db }: Store, callerId: string, day: string): Promise<Part[]> {
  const isProvoked = sql<number>`case when c.error like ${`%${NOT_IN_TIME}%`} or c.error like ${`%${TOO_LARGE}%`} then 1 else 0 end`
  return db
    .selectFrom('metered_calls as m')
    .leftJoin('calls as c', 'c.call_id', 'm.call_id')
    .select(({ fn }) => [
      'm.model as requested',
      'c.model as upstream',
      'm.capped',
      'm.charged',
      'c.status',
      'c.http_status',
      isProvoked.as('is_provoked'),
      fn.sum<number>('m.absorbed_micros').as('micros'),
    ])
    .where('m.caller_id', '=', callerId)
    .where('m.at', '>=', `${day}T00:00:00.000Z`)
    .where('m.absorbed_micros', '>', 0)
    .groupBy(['m.model', 'c.model', 'm.capped', 'm.charged', 'c.status', 'c.http_status', 'is_provoked'])
    .execute()
}

/** Tells whether a caller has paid in the last days at least what the operator bore for it. */
async function isPaidFor({ db }: Store, callerId: string, day: string): Promise<boolean> {
  const from = dayOf(new Date(Date.parse(day) - (PAID_DAYS - 1) * DAY_MS).toISOString())
  const { paid, borne } = await db
    .selectFrom('metered_usage')
    .select(({ fn }) => [
      sql<number | null>`sum(case when charged = 1 then upstream_cost_micros + margin_micros else 0 end)`.as('paid'),
      fn.sum<number | null>('absorbed_micros').as('borne'),
    ])
    .where('caller_id', '=', callerId)
    .where('day', '>=', from)
    .executeTakeFirstOrThrow()
  return Number(paid ?? 0) >= Number(borne ?? 0)
}

/** Tells whether a provider refused a request for what its client asked. */
const isOfClient = (status: number | null): boolean =>
  status !== null && status >= 400 && status < 500 && !NOT_OF_CLIENT.has(status)

/** Tells whether an answer was paid whole, so that only replies which were discarded before it are borne. */
const isOfDiscarded = ({ status, charged, capped }: Part): boolean => status === 'ok' && charged === 1 && capped === 0

const sumOf = (parts: readonly Part[]): Micros => parts.reduce((micros, part) => micros + Number(part.micros), 0)

const namesOf = (parts: readonly Part[]): ReadonlySet<string> =>
  new Set(parts.flatMap(({ requested, upstream }) => [requested, upstream ?? requested]))
