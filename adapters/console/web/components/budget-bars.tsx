import type { BudgetRecord } from '../../../../src/identity/budgets.ts'
import type { Spend } from '../../../../src/identity/spend.ts'
import { PERIODS, periodOf } from '../../../../src/text/period.ts'
import { usd } from '../format.ts'
import { now } from '../now.ts'
import './budget-bars.css'
import { When } from './inline.tsx'

const HOUR_MS = 3_600_000
/** Time within which a budget that never resets is said to be reached soon, in milliseconds. */
const SOON_MS = 30 * 24 * HOUR_MS

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
