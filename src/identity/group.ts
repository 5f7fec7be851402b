import * as z from 'zod'
import { isWhole, WHOLE } from '../store/storable-text.ts'
import { Alerts, ShownAlerts } from './alert-thresholds.ts'
import { Budgets, Period } from './budgets.ts'
import { SESSION_LIMITS } from './session-limits.ts'
import { Debt, PresumedUsd, Spend } from './spend.ts'

const GROUP_ID = /^grp_[0-9a-f]{32}$/

/** Name of a key or group. */
export const Name = z
  .string()
  .trim()
  .regex(/^\P{Cc}{1,100}$/u)
  .refine(isWhole, WHOLE)
  .meta({ accepted: 'text of 1 to 100 characters on one line' })

/** Id of a group. */
export const GroupId = z
  .string()
  .regex(GROUP_ID)
  .meta({ accepted: 'the id of a group, such as grp_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

/** Name of a group. It cannot look like an id, because keys refer to their group by either. */
export const GroupName = Name.refine((name) => !GROUP_ID.test(name), 'must not look like an id').describe(
  'Unique name of the group.',
)

/** Limits of the sessions of all keys of a group. */
const GroupLimits = z.strictObject(SESSION_LIMITS)

/** A request to create a group. */
export const NewGroup = z.strictObject({
  name: GroupName,
  budgets: Budgets.default([]).describe('Budgets of the calls of all its keys; [] for no limit.'),
  limits: GroupLimits.partial().default({}).describe('Limits of each session of its keys; absent ones are unlimited.'),
  alerts: Alerts.default([]).describe('Alerts to alerts.webhook_url.'),
})

/** A change of a group. Absent fields stay unchanged. */
export const GroupChange = z
  .strictObject({
    name: GroupName,
    budgets: Budgets.describe('Replaces all budgets of the group; [] for no limit.'),
    limits: GroupLimits.partial().describe('Absent limits stay; null removes one.'),
    alerts: Alerts.describe('Replaces all alerts of the group; [] for none.'),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'nothing to change')
  .meta({ accepted: 'an object with name, budgets, limits, alerts, or several of them' })

/** A group in replies. */
export const GroupRecord = z.object({
  id: GroupId,
  name: z.string(),
  budgets: z.array(z.object({ usd: z.number(), per: Period })),
  limits: z.object(SESSION_LIMITS),
  alerts: ShownAlerts,
  keys: z.int().describe('Number of its unrevoked keys'),
  spend: Spend,
  debt_usd: Debt,
  presumed_usd: PresumedUsd,
  created_at: z.iso.datetime(),
})
export type GroupRecord = z.infer<typeof GroupRecord>
