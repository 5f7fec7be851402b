import { PERIODS } from '../../src/text/period.ts'
import type { Burn } from '../../src/wallet/burn/burn.ts'
import { clipped, detailed } from './detailed-table.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Formats keys and groups as a table, with what each has left and for how long. */
export const burnTable = (burns: readonly Burn[]): string =>
  detailed(
    ['ID', 'NAME', 'BALANCE USD', 'LAST 24 H USD', 'TIME LEFT'],
    burns.map(({ id, name, balance, budget, burned_24h_usd, runs_out, time_left_seconds }) => ({
      cells: [
        id,
        clipped(name),
        balance && String(balance.left_usd),
        String(burned_24h_usd),
        time_left_seconds === null ? null : `${durationOf(time_left_seconds)} (${runs_out})`,
      ],
      details: {
        budget: budget && `${budget.usd} ${PERIODS[budget.per].each}${ofGroup(id, budget)}`,
        'spent USD': budget && String(budget.spent_usd),
        'left USD': budget && String(budget.left_usd),
        resets: budget?.resets_at ?? null,
      },
    })),
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
