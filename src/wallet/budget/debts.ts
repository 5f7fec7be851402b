import type { BudgetRow } from '../../store/tables/keys-tables.ts'
import type { Micros } from '../../text/money.ts'
import { PERIOD_NAMES, PERIODS, periodOf, TOTAL } from '../../text/period.ts'

/** Spending of an owner on one day, or in total. */
export interface DaySpent {
  owner: string
  day: string
  micros: Micros
  beyond_micros: Micros
  forgiven_micros: Micros
}

/** Spending of an owner in one period that counts in its budget. */
export interface Counted {
  micros: Micros
  /** Part that was not reserved. */
  beyond: Micros
}

/**
 * First day whose spending debts are computed from: that of the longest period before the present one, a month. Older
 * debts are over, so that the work does not grow with the history.
 */
export const debtsSince = (day: string): string =>
  PERIOD_NAMES.filter((per) => PERIODS[per].bounds !== null)
    .map((per) => periodOf(per, dayBefore(periodOf(per, day).from)).from)
    .sort()[0] as string

const DAY_MS = 86_400_000
const dayBefore = (day: string): string => shifted(day, -DAY_MS)
const dayAfter = (day: string): string => shifted(day, DAY_MS)
const shifted = (day: string, ms: number): string =>
  new Date(Date.parse(`${day}T00:00:00.000Z`) + ms).toISOString().slice(0, 10)

/** Sums what counts of an owner's spending in the period that contains `day`. */
export function countedIn(
  spent: readonly DaySpent[],
  { owner, per }: Pick<BudgetRow, 'owner' | 'per'>,
  day: string,
): Counted {
  const { from, to } = periodOf(per, day)
  let [micros, beyond] = [0, 0]
  for (const row of spent) {
    if (row.owner !== owner || row.day < from || row.day > to) continue
    micros += Number(row.micros) - Number(row.forgiven_micros)
    beyond += Number(row.beyond_micros) - Number(row.forgiven_micros)
  }
  return { micros, beyond }
}

/**
 * Debt of a budget at the end of a period: what the spending and the debt before exceed the budget by. Never more than
 * came from usage beyond reservations, so that a lowered budget makes no debt.
 *
 * `debt = min(debt before + beyond, max(0, debt before + spent - budget))`
 */
const debtAfter = (before: Micros, { micros, beyond }: Counted, budget: Micros): Micros =>
  Math.min(before + beyond, Math.max(0, before + micros - budget))

/** Debt that counts against the period that contains `day`: what the periods before did not hold. */
export function debtBefore(spent: readonly DaySpent[], budget: BudgetRow, day: string): Micros {
  if (PERIODS[budget.per].bounds === null) return 0
  const present = periodOf(budget.per, day).from
  let debt = 0
  for (let at = debtsSince(day); at < present; at = dayAfter(periodOf(budget.per, at).to))
    debt = debtAfter(debt, countedIn(spent, budget, at), budget.micros)
  return debt
}

/** Debt of a budget by now, with what the present period does not hold. */
export const debtBy = (spent: readonly DaySpent[], budget: BudgetRow, day: string): Micros =>
  debtAfter(debtBefore(spent, budget, day), countedIn(spent, budget, day), budget.micros)

/**
 * Forgives the debts of an owner's budgets, the latest usage first.
 *
 * @param spent its spending since {@link debtsSince}
 * @returns the rows that change, with what is forgiven of them by then
 */
export function forgiven(spent: readonly DaySpent[], budgets: readonly BudgetRow[], day: string): DaySpent[] {
  const rows = new Map(spent.map((row) => [row.day, { ...row }]))
  const changed = new Set<DaySpent>()
  for (const budget of budgets) {
    const days = [...rows.values()].filter((row) => (row.day === TOTAL) === (PERIODS[budget.per].bounds === null))
    for (const row of days.sort((a, b) => (a.day < b.day ? 1 : -1))) {
      const open = Math.min(debtBy([...rows.values()], budget, day), row.beyond_micros - row.forgiven_micros)
      if (open <= 0) continue
      row.forgiven_micros += open
      changed.add(row)
    }
  }
  return [...changed]
}
