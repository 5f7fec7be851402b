import type { Period } from '../../text/period.ts'

/**
 * Outbox of alert messages: a budget is used up to a share. One per budget, period and share. `body` is the JSON that
 * every attempt sends. `next_at` is null once the message is delivered or given up.
 */
export interface AlertMessageRow {
  id: string
  owner: string
  per: Period
  /** The first day of the period: `2026-11-21`, or `total`. */
  period: string
  percent: number
  body: string
  created_at: string
  next_at: string | null
  attempts: number
  delivered_at: string | null
  error: string | null
}

export interface AlertTables {
  alert_messages: AlertMessageRow
}
