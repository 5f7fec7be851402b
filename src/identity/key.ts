import { z } from 'zod'
import { Billing } from '../config/sections/wallet-section.ts'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { Amount } from '../text/money.ts'
import { Alerts, ShownAlerts } from './alerts.ts'
import { Budgets, Period } from './budgets.ts'
import { GroupId, Name } from './group.ts'
import { Spend } from './spend.ts'

/** The most globs that one key has. */
const MOST_MODELS = 100
/** The longest grace after a rotation: 30 days. */
const MOST_GRACE_SECONDS = 30 * 86_400
const DEFAULT_GRACE_SECONDS = 86_400

/** What a key may do: model calls and memory over HTTP, the platform, or everything. */
export const Scope = z.enum(['inference', 'platform', 'admin'])
export type Scope = z.infer<typeof Scope>

/** An EVM address, in lower case whatever its checksum's case was. */
export const WalletAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase()
  .meta({ accepted: 'an address of 0x and 40 hexadecimal digits' })

/** The id of a key. It is no secret. */
export const KeyId = z
  .string()
  .regex(/^key_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of a key, such as key_019aa5b2c3d47e6f8091a2b3c4d5e6f7 (not the key itself)' })

/** Whom to look for: the id of a key, or a wallet address in whatever case. */
export const CallerId = z
  .string()
  .min(1)
  .max(256)
  .overwrite((id) => WalletAddress.safeParse(id).data ?? id)

/** A model's id in which `*` stands for any characters. */
export const ModelGlob = z
  .string()
  .regex(/^[^\s\p{Cc}\p{Surrogate}]{1,200}$/u)
  .meta({ accepted: 'a model id without spaces, in which * stands for any characters, such as "gpt-*"' })

const count = (most: number) => z.int().min(1).max(most).nullable()

/** What calls with a key are held to. Null is no limit. */
export const Limits = z.strictObject({
  credit_limit_usd: Amount.nullable().describe(
    'How far the key may spend beyond its deposit, in USD; null: wallet.default_credit_limit_usd.',
  ),
  budgets: Budgets.nullable().describe('What its calls may cost in a period; [] or null is no limit.'),
  requests_per_minute: count(1_000_000).describe('How many calls may begin in a minute.'),
  tokens_per_minute: count(1_000_000_000).describe('How many tokens its calls may use in a minute.'),
  concurrent: count(100_000).describe('How many calls may be under way at a time.'),
})

/** All that an admin decides about a key, as it is sent. */
const fields = {
  name: Name.describe('What the key is for, so that a person knows it again.'),
  group: z.string().min(1).max(100).nullable().describe('The id or the name of the group whose budgets bind it too.'),
  billing: Billing.describe(
    'recorded: nothing is charged; cost: what the provider charges; metered: that and the margin. Keys of admins are always ' +
      'recorded.',
  ),
  limits: Limits.partial().describe('What is left out is no limit.'),
  alerts: Alerts.describe('When an alert is sent to alerts.webhook_url; [] is never.'),
  models: z
    .array(ModelGlob)
    .min(1)
    .max(MOST_MODELS)
    .nullable()
    .describe('Globs of the models that it may ask; null is all.'),
  expires_at: z.iso
    .datetime({ offset: true })
    .overwrite((text) => new Date(text).toISOString())
    .nullable()
    .describe('When the key stops working; null is never.')
    .meta({ accepted: 'a time ahead of now, such as "2027-01-31T00:00:00Z", or null' }),
}

/** What a key is made from. */
export const NewKey = z.strictObject({
  name: fields.name,
  scopes: z.array(Scope).min(1).max(Scope.options.length).default(['inference']).describe('What the key may do.'),
  group: fields.group.default(null),
  wallet: WalletAddress.nullable().default(null).describe('The wallet address that calls with this key belong to.'),
  billing: fields.billing
    .optional()
    .describe(
      `${fields.billing.description} Left out: wallet.billing.platform for the scope platform, else wallet.billing.other.`,
    ),
  limits: fields.limits.default({}),
  alerts: fields.alerts.default([]),
  models: fields.models.default(null),
  expires_at: fields.expires_at.default(null),
})

/** What can be changed of a key. What is left out stays, in `limits` too; null takes a limit away. */
export const KeyChange = z
  .strictObject({ ...fields, limits: fields.limits.describe('What is left out stays; null takes a limit away.') })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'nothing to change')
  .meta({ accepted: `${Object.keys(fields).join(', ')}, or several of them` })

/** How a key is rotated. */
export const KeyRotation = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(MOST_GRACE_SECONDS)
    .default(DEFAULT_GRACE_SECONDS)
    .describe('How long the secret before still works, in seconds.'),
})

/** A key as it is shown: everything but the token, which nothing can show again. */
export const KeyRecord = z.object({
  id: KeyId,
  name: z.string(),
  scopes: z.array(Scope),
  group: GroupId.nullable(),
  wallet: z.string().nullable(),
  billing: Billing,
  limits: z.object({
    credit_limit_usd: z.number().nullable().describe('Null: wallet.default_credit_limit_usd'),
    budgets: z.array(z.object({ usd: z.number(), per: Period })),
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    concurrent: z.int().nullable(),
  }),
  alerts: ShownAlerts,
  models: z.array(z.string()).nullable().describe('Globs; null is all models.'),
  expires_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().describe('The last use, written once a minute at most.'),
  rotated_at: z.iso.datetime().nullable(),
  revoked_at: z.iso.datetime().nullable(),
  spend: Spend,
})
export type KeyRecord = z.infer<typeof KeyRecord>

/** The scopes that a key was given. */
export const scopesOf = (row: Pick<KeyRow, 'scopes'>): Scope[] => z.array(Scope).parse(JSON.parse(row.scopes))

/** The globs of the models that a key may ask; null is all. */
export const modelsOf = (row: Pick<KeyRow, 'models'>): string[] | null =>
  row.models === null ? null : z.array(z.string()).parse(JSON.parse(row.models))
