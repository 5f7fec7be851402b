import type { BudgetRecord } from '../../../../src/identity/budgets.ts'
import type { Spend } from '../../../../src/identity/spend.ts'
import { PERIOD_NAMES, PERIODS } from '../../../../src/text/period.ts'
import { usd } from '../format.ts'
import { Money } from './inline.tsx'
import type { Column } from './table.tsx'

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
