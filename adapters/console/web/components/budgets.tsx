import type { BudgetRecord, Period } from '../../../../src/identity/budgets.ts'
import type { Spend } from '../../../../src/identity/spend.ts'
import { usd } from '../format.ts'
import { Money } from './inline.tsx'
import type { Column } from './table.tsx'

/** Labels of budget periods, the shortest first. */
export const PERIODS = [
  { value: 'day', label: 'per day', spent: 'Today' },
  { value: 'week', label: 'per week', spent: 'This week' },
  { value: 'month', label: 'per month', spent: 'This month' },
  { value: 'total', label: 'in total', spent: 'In total' },
] as const satisfies readonly { value: Period; label: string; spent: string }[]

/** `$5.00 a day` */
export const budgetText = (budget: BudgetRecord): string =>
  `${usd(budget.usd)} ${PERIODS.find(({ value }) => value === budget.per)?.label ?? budget.per}`

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
export const spendColumns = <Row extends { spend: Spend }>(
  budgetsOf: (row: Row) => readonly BudgetRecord[],
): Column<Row>[] =>
  PERIODS.map(({ value, spent }) => ({
    key: value,
    label: spent,
    align: 'right',
    render(row) {
      const budget = budgetsOf(row).find(({ per }) => per === value)
      return (
        <>
          <Money usd={row.spend[`${value}_usd`]} />
          {budget && <div class="muted">of {usd(budget.usd)}</div>}
        </>
      )
    },
  }))
