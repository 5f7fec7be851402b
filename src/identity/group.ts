import { z } from 'zod'
import { isWhole, WHOLE } from '../store/text.ts'
import { Alerts, ShownAlerts } from './alerts.ts'
import { Budgets, Period } from './budgets.ts'
import { Spend } from './spend.ts'

const GROUP_ID = /^grp_[0-9a-f]{32}$/

/** What a person calls a key or a group. */
export const Name = z
  .string()
  .trim()
  .regex(/^\P{Cc}{1,100}$/u)
  .refine(isWhole, WHOLE)
  .meta({ accepted: 'text of 1 to 100 characters on one line' })

/** The id of a group. */
export const GroupId = z
  .string()
  .regex(GROUP_ID)
  .meta({ accepted: 'the id of a group, such as grp_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

/** What a person calls a group. It is not in the form of an id: keys may name their group by either. */
export const GroupName = Name.refine((name) => !GROUP_ID.test(name), 'must not look like an id').describe(
  'What the group is called. No other group has this name.',
)

/** What a group is made from. */
export const NewGroup = z.strictObject({
  name: GroupName,
  budgets: Budgets.default([]).describe('What the calls of its keys together may cost in a period; [] is no limit.'),
  alerts: Alerts.default([]).describe('When an alert is sent to alerts.webhook_url.'),
})

/** What can be changed of a group. What is left out stays. */
export const GroupChange = z
  .strictObject({
    name: GroupName,
    budgets: Budgets.describe('Takes the place of all budgets that the group has; [] is no limit.'),
    alerts: Alerts.describe('Takes the place of all alerts that the group has; [] is none.'),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'nothing to change')
  .meta({ accepted: 'name, budgets, alerts, or several of them' })

/** A group as it is shown. */
export const GroupRecord = z.object({
  id: GroupId,
  name: z.string(),
  budgets: z.array(z.object({ usd: z.number(), per: Period })),
  alerts: ShownAlerts,
  keys: z.int().describe('Its keys that are not revoked'),
  spend: Spend,
  created_at: z.iso.datetime(),
})
export type GroupRecord = z.infer<typeof GroupRecord>
