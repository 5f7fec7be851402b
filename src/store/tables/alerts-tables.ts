/**
 * A message that a budget is used up to a part: the outbox. There is one for a budget, its period and the part. `body` is
 * JSON as it is sent each time. `next_at` is null once it is delivered or given up.
 */
export interface AlertMessageRow {
  id: string
  owner: string
  per: 'day' | 'week' | 'month' | 'total'
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
