import { sql, type Transaction } from 'kysely'
import type { SessionGroupBy } from '../../calls/call-groups.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { LedgerTransferRow, MeteredUsageRow } from '../../store/tables/wallet-tables.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { dayOf } from '../budget/spending.ts'
import { OF_CALLS } from '../ledger/call-transfers.ts'
import { closedPeriod } from '../ledger/closed-periods.ts'
import { readLedgerHead } from '../ledger/ledger-head.ts'
import { boundsOf } from '../ledger/statement-period.ts'
import type { Entry } from '../ledger/transfer.ts'
import { SUMS } from '../receipts/usage-sums.ts'
import { type GroupedCharges, groupedCharges } from './grouped-charges.ts'
import { MOVEMENTS, type Movement, type Statement, type StatementCharge, type Totals } from './statement.ts'
import { ofCallers, type Subject } from './statement-subject.ts'

/** Transfers read at a time. */
const PAGE = 2_000

/**
 * Builds the statement of a period from one snapshot. An account is what its caller can spend and what is reserved for
 * its running calls. Charges come from the sums by day and price, or with `groupBy` from receipts; everything else comes
 * from the transfers.
 *
 * @throws GazewayError `validation_failed` for a malformed period
 */
export async function buildStatement(
  store: Store,
  period: string,
  subject: Subject,
  groupBy?: SessionGroupBy,
): Promise<Statement> {
  const { from, to } = boundsOf(period)
  const closed = await closedPeriod(store, period)
  const found = await store.snapshot(async (db) => ({
    balance: await balanceOf(db, subject.callers),
    charges:
      groupBy === undefined
        ? await chargesIn(db, subject.callers, { from, to })
        : await groupedCharges(db, subject.callers, { from, to, groupBy }),
    chargedAfter: await chargedFrom(db, subject.callers, to),
    moved: await movedFrom(db, subject.callers, { from, to }),
  }))
  const { before, after, settled } = found.moved
  const chargedMicros = (of: 'upstream_cost_micros' | 'margin_micros') =>
    sumOf(found.charges.filter(({ charged }) => charged === 1).map((row) => row[of]))
  const [cost, margin] = [chargedMicros('upstream_cost_micros'), chargedMicros('margin_micros')]
  const closing = found.balance - after + found.chargedAfter
  const movedIn = sumOf([...before.values()].map(({ micros }) => micros))
  const recorded = sumOf(found.charges.filter(({ charged }) => charged === 0).map((row) => row.upstream_cost_micros))
  return {
    period,
    starts_at: from,
    ends_at: to,
    closed_at: closed?.closed_at ?? null,
    of: { kind: subject.kind, id: subject.id },
    currency: 'USD',
    ...(groupBy === undefined ? {} : { group_by: groupBy }),
    opening_usd: toUsd(closing - movedIn + cost + margin),
    movements: [...before.values()].map(({ micros, ...movement }) => ({ ...movement, amount_usd: toUsd(micros) })),
    charges: found.charges.map(toCharge),
    totals: {
      ...totalsOf([...before.values()]),
      charges_usd: toUsd(0 - cost - margin),
      upstream_cost_usd: toUsd(0 - cost),
      margin_usd: toUsd(0 - margin),
      recorded_usd: toUsd(recorded),
      settlements_usd: toUsd(settled),
      absorbed_usd: toUsd(sumOf(found.charges.map((row) => row.absorbed_micros))),
      debts_usd: toUsd(sumOf(found.charges.map((row) => row.debt_micros))),
    },
    closing_usd: toUsd(closing),
    ledger_head: closed?.ledger_head ?? (await readLedgerHead(store)),
  }
}

const sumOf = (amounts: readonly Micros[]): Micros => amounts.reduce((sum, micros) => sum + micros, 0)

async function balanceOf(db: Transaction<Schema>, callers: Subject['callers']): Promise<Micros> {
  const { rows } = await sql<{ micros: number }>`
    select cast(coalesce(sum(balance_micros), 0) as bigint) as micros from ledger_accounts
    where kind in ('caller', 'held') ${ofCallers(callers, 'owner')}`.execute(db)
  return Number(rows[0]?.micros ?? 0)
}

type DailyCharges = Omit<MeteredUsageRow, 'caller_id'>

async function chargesIn(
  db: Transaction<Schema>,
  callers: Subject['callers'],
  { from, to }: { from: string; to: string },
): Promise<DailyCharges[]> {
  const sums = SUMS.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`)
  const { rows } = await sql<DailyCharges>`
    select day, model, upstream, price, charged, ${sql.join(sums)} from metered_usage
    where day >= ${dayOf(from)} and day < ${dayOf(to)} ${ofCallers(callers, 'caller_id')}
    group by day, model, upstream, price, charged order by day, model, upstream, charged, price`.execute(db)
  return rows.map((row) => ({ ...row, ...Object.fromEntries(SUMS.map((column) => [column, Number(row[column])])) }))
}

async function chargedFrom(db: Transaction<Schema>, callers: Subject['callers'], from: string): Promise<Micros> {
  const { rows } = await sql<{ micros: number }>`
    select cast(coalesce(sum(upstream_cost_micros + margin_micros), 0) as bigint) as micros from metered_usage
    where charged = 1 and day >= ${dayOf(from)} ${ofCallers(callers, 'caller_id')}`.execute(db)
  return Number(rows[0]?.micros ?? 0)
}

interface Moved {
  /** Movements of the period by day and kind. */
  before: Map<string, Omit<Movement, 'amount_usd'> & { micros: Micros }>
  /** Sum of what moved after it. */
  after: Micros
  /** Paid on a chain in the period. */
  settled: Micros
}

/** Adds up the transfers from the start of a period on, page by page. */
async function movedFrom(
  db: Transaction<Schema>,
  callers: Subject['callers'],
  { from, to }: { from: string; to: string },
): Promise<Moved> {
  const owners = callers === null ? null : new Set(callers)
  const isOf = ({ account }: Entry, kinds: RegExp) => {
    const [, owner] = kinds.exec(account) ?? []
    return owner !== undefined && (owners === null || owners.has(owner))
  }
  const amountOf = (entries: readonly Entry[], kinds: RegExp) =>
    sumOf(entries.filter((entry) => isOf(entry, kinds)).map(({ micros }) => micros))
  const moved: Moved = { before: new Map(), after: 0, settled: 0 }
  for await (const { at, kind, entries: stored } of transfersFrom(db, callers, from)) {
    const entries = JSON.parse(stored) as Entry[]
    const micros = amountOf(entries, /^(?:caller|held):(.*)$/)
    if (at >= to) moved.after += micros
    else if (kind === 'settle') moved.settled += amountOf(entries, /^deposits:(.*)$/)
    else {
      const [day, name] = [dayOf(at), `${dayOf(at)} ${kind}`]
      const sum = moved.before.get(name) ?? { day, kind, count: 0, micros: 0 }
      moved.before.set(name, { ...sum, count: sum.count + 1, micros: sum.micros + micros })
    }
  }
  return moved
}

async function* transfersFrom(
  db: Transaction<Schema>,
  callers: Subject['callers'],
  from: string,
): AsyncGenerator<Pick<LedgerTransferRow, 'at' | 'kind' | 'entries'>> {
  // A transfer is in the chain of its first account; `caller` and `deposits` sort before all others of these kinds.
  const chains = callers?.flatMap((caller) => [`caller:${caller}`, `deposits:${caller}`]) ?? null
  for (let [at, key] = [from, '']; ; ) {
    await yieldToEventLoop()
    const { rows } = await sql<Pick<LedgerTransferRow, 'at' | 'key' | 'kind' | 'entries'>>`
      select at, key, kind, cast(entries as text) as entries from ledger_transfers
      where kind not in ${OF_CALLS} and at >= ${at} and (at > ${at} or key > ${key})
        ${ofCallers(chains, 'chain')}
      order by at, key limit ${PAGE}`.execute(db)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    ;({ at, key } = last)
  }
}

function totalsOf(
  movements: ReadonlyArray<{ kind: string; micros: Micros }>,
): Pick<Totals, (typeof MOVEMENTS)[keyof typeof MOVEMENTS]> {
  const of = (total: (typeof MOVEMENTS)[keyof typeof MOVEMENTS]) =>
    toUsd(
      sumOf(
        movements
          .filter(({ kind }) => (MOVEMENTS as Readonly<Record<string, string>>)[kind] === total)
          .map(({ micros }) => micros),
      ),
    )
  return {
    deposits_usd: of('deposits_usd'),
    refunds_usd: of('refunds_usd'),
    escrow_usd: of('escrow_usd'),
    earned_usd: of('earned_usd'),
    withdrawals_usd: of('withdrawals_usd'),
    purchases_usd: of('purchases_usd'),
    moved_usd: of('moved_usd'),
  }
}

function toCharge(row: DailyCharges | GroupedCharges): StatementCharge {
  const { total_tokens: _, upstream_cost_micros: cost, margin_micros: margin, ...rest } = row
  const { absorbed_micros: absorbed, debt_micros: debt, price, ...fields } = rest
  return {
    ...fields,
    charged: row.charged === 1,
    price: price === '' ? null : JSON.parse(price),
    upstream_cost_usd: toUsd(cost),
    margin_usd: toUsd(margin),
    total_usd: toUsd(cost + margin),
    absorbed_usd: toUsd(absorbed),
    debt_usd: toUsd(debt),
  }
}
