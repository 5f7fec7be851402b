import type { Kysely, Transaction } from 'kysely'
import * as z from 'zod'
import type { Schema } from '../store/schema.ts'
import type { AlertRow } from '../store/tables/keys-tables.ts'

/** Maximum number of alerts of one key or group. */
const MAX_ALERTS = 10

/** An alert in requests and replies. */
const AlertRecord = z.strictObject({
  at: z
    .number()
    .min(0.01)
    .max(1)
    .refine((at) => toPercent(at) / 100 === at, 'not of whole hundredths')
    .describe('Spent share of a budget that sends the alert: 0.8 is 80 %.')
    .meta({ accepted: 'a number from 0.01 to 1 with at most 2 decimals' }),
  of: z.literal('budget').default('budget').describe('Applies to each budget of the key or the group.'),
})
export type AlertRecord = z.infer<typeof AlertRecord>

/** Alerts of a key or group, each share at most once. */
export const Alerts = z
  .array(AlertRecord)
  .max(MAX_ALERTS)
  .superRefine((alerts, context) => {
    const seen = new Set<number>()
    for (const [i, { at }] of alerts.entries()) {
      if (seen.has(at)) context.addIssue({ code: 'custom', path: [i, 'at'], message: 'is there already' })
      seen.add(at)
    }
  })
  .meta({ accepted: `a list of at most ${MAX_ALERTS} different {at, of}, such as [{"at": 0.8, "of": "budget"}]` })

/** Alerts in replies. */
export const ShownAlerts = z.array(z.object({ at: z.number(), of: z.literal('budget') }))

const toPercent = (at: number): number => Math.round(at * 100)

/** Builds the shown alerts of rows, lowest share first. */
export const toAlertRecords = (rows: readonly Pick<AlertRow, 'percent'>[]): AlertRecord[] =>
  rows.map(({ percent }) => ({ at: percent / 100, of: 'budget' as const })).toSorted((a, b) => a.at - b.at)

/** Builds the rows of an owner's alerts. */
export const toAlertRows = (owner: string, alerts: readonly AlertRecord[]): AlertRow[] =>
  alerts.map(({ at }) => ({ owner, percent: toPercent(at) }))

/** Reads the alerts of keys and groups, by owner id. */
export async function readAlerts(db: Kysely<Schema>, owners: readonly string[]): Promise<Map<string, AlertRow[]>> {
  if (owners.length === 0) return new Map()
  const alerts = new Map<string, AlertRow[]>()
  for (const row of await db.selectFrom('alerts').selectAll().where('owner', 'in', owners).execute())
    alerts.set(row.owner, [...(alerts.get(row.owner) ?? []), row])
  return alerts
}

/** Replaces the alerts of an owner, whose row is locked before. */
export async function replaceAlerts(trx: Transaction<Schema>, owner: string, rows: readonly AlertRow[]): Promise<void> {
  await trx.deleteFrom('alerts').where('owner', '=', owner).execute()
  if (rows.length > 0)
    await trx
      .insertInto('alerts')
      .values([...rows])
      .execute()
}
