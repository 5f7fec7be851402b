import type { AlertRecord } from '../../../../../src/identity/alerts.ts'
import { amountIn } from '../../typed.ts'

/** Alerts to be edited, in percent of a budget: `50, 80`. */
export const alertsText = (alerts: readonly AlertRecord[]): string =>
  alerts.map(({ at }) => String(Math.round(at * 100))).join(', ')

/** Parses percentages separated by commas or spaces; the API validates them. */
export const alertsIn = (text: string) =>
  text
    .split(/[\s,;%]+/)
    .filter((part) => part !== '')
    .map((part) => ({ at: partOf(amountIn(part)), of: 'budget' as const }))

/** 80 is 0.8. What is no number stays as it was typed. */
const partOf = (percent: ReturnType<typeof amountIn>) => (typeof percent === 'number' ? percent / 100 : percent)
