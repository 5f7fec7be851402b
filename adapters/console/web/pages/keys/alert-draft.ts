import type { AlertRecord } from '../../../../../src/identity/alerts.ts'
import { amountIn } from '../../typed.ts'

/** Field for the shares of each budget at which an alert is sent. */
export const ALERTS = {
  name: 'alerts',
  label: 'Alerts at, in percent of a budget',
  hint: 'Such as 50, 80. Each sends one alert per budget and period to alerts.webhook_url. Empty: no alerts.',
  inputMode: 'text',
  placeholder: 'none',
  autoComplete: 'off',
} as const

/** Formats alerts for editing, in percent of a budget: `50, 80`. */
export const alertsText = (alerts: readonly AlertRecord[]): string =>
  alerts.map(({ at }) => String(Math.round(at * 100))).join(', ')

/** Parses percentages separated by commas or spaces; the API validates them. */
export const alertsIn = (text: string) =>
  text
    .split(/[\s,;%]+/)
    .filter((part) => part !== '')
    .map((part) => ({ at: partOf(amountIn(part)), of: 'budget' as const }))

/** Converts 80 to 0.8. Text that is not a number stays as typed. */
const partOf = (percent: ReturnType<typeof amountIn>) => (typeof percent === 'number' ? percent / 100 : percent)
