import type { Burn } from '../../src/wallet/burn.ts'
import { aligned } from './aligned.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats keys and groups as a table, with what each has left and for how long. */
export const burnTable = (burns: readonly Burn[]): string =>
  aligned(
    ['ID', 'NAME', 'BALANCE USD', 'BUDGET', 'SPENT USD', 'LEFT USD', 'RESETS', 'LAST 24 H USD', 'TIME LEFT'],
    burns.map(({ id, name, balance, budget, burned_24h_usd, runs_out, time_left_seconds }) => [
      id,
      name,
      balance && String(balance.left_usd),
      budget && `${budget.usd} ${budget.per === 'total' ? 'in total' : `per ${budget.per}`}${ofGroup(id, budget)}`,
      budget && String(budget.spent_usd),
      budget && String(budget.left_usd),
      budget?.resets_at ?? null,
      String(burned_24h_usd),
      time_left_seconds === null ? null : `${durationOf(time_left_seconds)} (${runs_out})`,
    ]),
  )

const ofGroup = (id: string, { owner }: NonNullable<Burn['budget']>): string => (owner === id ? '' : ' (group)')

/** `3d 4h`, `4h 5m`, `5m`, or `0` for none. */
function durationOf(seconds: number): string {
  if (seconds === 0) return '0'
  if (seconds < MINUTE) return `${seconds}s`
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m`
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h ${Math.floor((seconds % HOUR) / MINUTE)}m`
  return `${Math.floor(seconds / DAY)}d ${Math.floor((seconds % DAY) / HOUR)}h`
}
