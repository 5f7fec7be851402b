import type { BudgetRecord } from '../../../../src/identity/budgets.ts'
import type { Spend } from '../../../../src/identity/spend.ts'
import { PERIOD_NAMES, PERIODS, periodOf } from '../../../../src/text/period.ts'
import { usd } from '../format.ts'
import { now } from '../now.ts'
import { DAY_MS, HOUR_MS } from '../time.ts'
import { Money, When } from './inline.tsx'
import type { Column } from './table.tsx'
import './budget-bars.css'

/** Choices of budget periods, the shortest first. */
export const PERIOD_OPTIONS = PERIOD_NAMES.map((value) => ({ value, label: PERIODS[value].each }))

/** `$5.00 a day` */
export const budgetText = (budget: BudgetRecord): string => `${usd(budget.usd)} ${PERIODS[budget.per].each}`

/** List of budgets, one per line. */
export function BudgetList({ of }: { of: readonly BudgetRecord[] }) {
  if (of.length === 0) return <span class="muted">no limit</span>
  return (
    <>
      {of.map((budget) => (
        <div key={budget.per}>{budgetText(budget)}</div>
      ))}
    </>
  )
}

/** Columns for each period: the spending of the current period and its budget. */
export const spendColumns = <Row extends { spend: Spend; presumed_usd: number; debt_usd: number }>(
  budgetsOf: (row: Row) => readonly BudgetRecord[],
): Column<Row>[] =>
  PERIOD_NAMES.map((value) => ({
    key: value,
    label: capitalised(PERIODS[value].current),
    align: 'right',
    render(row) {
      const budget = budgetsOf(row).find(({ per }) => per === value)
      return (
        <>
          <Money usd={row.spend[`${value}_usd`]} />
          {budget && <div class="muted">of {usd(budget.usd)}</div>}
          {value === 'total' && row.presumed_usd > 0 && (
            <div class="muted" title="Reserved by a process that died. Budgets count it until it is released.">
              {usd(row.presumed_usd)} presumed
            </div>
          )}
          {value === 'total' && row.debt_usd > 0 && (
            <div class="bad" title="Used beyond reservations, and held by neither budgets nor credit.">
              {usd(row.debt_usd)} owed
            </div>
          )}
        </>
      )
    },
  }))

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Time within which a budget that never resets is said to be reached soon, in milliseconds. */
const SOON_MS = 30 * DAY_MS

/**
 * Budgets as bars: what is spent, and what will be at the rate of the last day.
 *
 * @param hourlyUsd cost of an hour at that rate; null while it is unknown
 */
export function BudgetBars(props: { budgets: readonly BudgetRecord[]; spend: Spend; hourlyUsd: number | null }) {
  if (props.budgets.length === 0) return <p class="hint">No budget limits it.</p>
  return (
    <>
      {props.budgets.map((budget) => (
        <BudgetBar key={budget.per} {...props} budget={budget} />
      ))}
    </>
  )
}

function BudgetBar({ budget, spend, hourlyUsd }: { budget: BudgetRecord; spend: Spend; hourlyUsd: number | null }) {
  const { usd: limit, per } = budget
  const spent = spend[`${per}_usd`]
  const { resetsAt } = periodOf(per, new Date(now.value).toISOString().slice(0, 10))
  const leftMs = resetsAt === null ? null : Date.parse(resetsAt) - now.value
  const forecast = hourlyUsd === null || leftMs === null ? null : spent + (hourlyUsd * leftMs) / HOUR_MS
  const reachedMs = hourlyUsd ? now.value + ((limit - spent) / hourlyUsd) * HOUR_MS : null
  const isReached = spent >= limit
  const isSoon = reachedMs !== null && !isReached && reachedMs < now.value + (leftMs ?? SOON_MS)
  const most = Math.max(limit, spent, Math.min(forecast ?? 0, 2 * limit), Number.MIN_VALUE)
  const width = (value: number) => ({ width: `${(100 * value) / most}%` })
  return (
    <div class={isReached || isSoon ? 'budget-meter exceeded' : 'budget-meter'}>
      <p>
        <strong>{PERIODS[per].current}</strong>
        <span>
          {usd(spent)} of {usd(limit)}
        </span>
      </p>
      <div
        class="budget-bar"
        role="meter"
        aria-label={`Budget ${PERIODS[per].each}`}
        aria-valuenow={Math.min(spent, limit)}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuetext={`${usd(spent)} of ${usd(limit)}`}
      >
        <i class="forecast" style={width(Math.min(forecast ?? 0, most))} />
        <i style={width(spent)} />
        <b style={{ left: `${(100 * limit) / most}%` }} />
      </div>
      <p class="hint">
        <span>
          {isReached && 'reached; '}
          {isSoon && (
            <>
              reached <When at={reachedMs / 1000} />;{' '}
            </>
          )}
          {resetsAt === null ? (
            'never resets'
          ) : (
            <>
              resets <When at={resetsAt} />
            </>
          )}
        </span>
        {forecast !== null && <span>forecast {usd(Math.round(forecast * 100) / 100)}</span>}
      </p>
    </div>
  )
}
