import * as z from 'zod'
import { Billing } from '../config/sections/wallet-section.ts'
import { toUtc } from '../store/dates.ts'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { durationMs } from '../text/duration.ts'
import { Amount } from '../text/money.ts'
import { Alerts, ShownAlerts } from './alert-thresholds.ts'
import { Budgets, Period } from './budgets.ts'
import { GroupId, Name } from './group.ts'
import { SESSION_LIMITS } from './session-limits.ts'
import { Debt, PresumedUsd, Spend } from './spend.ts'

/** Maximum number of globs of one key. */
const MAX_MODELS = 100
/** Longest grace after a rotation: 30 days. */
const MAX_GRACE_SECONDS = 30 * 86_400
const DEFAULT_GRACE_SECONDS = 86_400

/** Scope of a key: model calls and memory over HTTP, the platform, or everything. */
export const Scope = z.enum(['inference', 'platform', 'admin'])
export type Scope = z.infer<typeof Scope>

/** Marks and keys for the caches of providers: set by Gazeway for sessions, or left to the client. */
export const KeyCache = z.enum(['auto', 'off']).meta({ accepted: 'auto or off' })
export type KeyCache = z.infer<typeof KeyCache>

/** An EVM address, normalised to lower case. */
export const WalletAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase()
  .meta({ accepted: 'an address of 0x and 40 hexadecimal digits' })

/** Id of a key. It is not secret. */
export const KeyId = z
  .string()
  .regex(/^key_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of a key, such as key_019aa5b2c3d47e6f8091a2b3c4d5e6f7 (not the key itself)' })

/** Id of a key, or a wallet address in any case. */
export const CallerId = z
  .string()
  .min(1)
  .max(256)
  .overwrite((id) => WalletAddress.safeParse(id).data ?? id)

/** Model id with `*` as wildcard. */
export const ModelGlob = z
  .string()
  .regex(/^[^\s\p{Cc}\p{Surrogate}]{1,200}$/u)
  .meta({ accepted: 'a model id without spaces, in which * stands for any characters, such as "gpt-*"' })

const count = (most: number) => z.int().min(1).max(most).nullable()

/** Limits of a key's calls. Null for unlimited. */
export const Limits = z.strictObject({
  credit_limit_usd: Amount.nullable().describe(
    'Credit beyond the deposits of the key, in USD; null: wallet.default_credit_limit_usd.',
  ),
  budgets: Budgets.nullable().describe('Budgets of its calls; [] or null for no limit.'),
  requests_per_minute: count(1_000_000).describe('Calls per minute.'),
  tokens_per_minute: count(1_000_000_000).describe('Tokens per minute.'),
  concurrent: count(100_000).describe('Concurrent calls.'),
  ...SESSION_LIMITS,
})

const Time = z.iso.datetime({ offset: true })
const isTime = (text: string): boolean => Time.safeParse(text).success

/** End of a key as sent: an RFC 3339 time, which is converted to UTC, or a duration from now, which stays. */
const KeyEnd = z
  .string()
  .refine((text) => (durationMs(text) ?? 0) > 0 || isTime(text), {
    error: 'neither a time nor a duration',
    abort: true,
  })
  .overwrite((text) => (durationMs(text) === null ? toUtc(text) : text))

/** Fields of a key that an admin sets. */
const fields = {
  name: Name.describe('Name of the key, for people.'),
  group: z.string().min(1).max(100).nullable().describe('Id or name of the group whose budgets apply too.'),
  billing: Billing.describe(
    'recorded: nothing is charged; cost: what the provider charges; metered: that and the margin. Keys of admins are always ' +
      'recorded.',
  ),
  limits: Limits.partial().describe('Absent limits are unlimited.'),
  alerts: Alerts.describe('Alerts to alerts.webhook_url; [] for none.'),
  models: z.array(ModelGlob).min(1).max(MAX_MODELS).nullable().describe('Globs of allowed models; null for all.'),
  lenient: z
    .boolean()
    .describe(
      'Content and constraints that the API of an upstream cannot express are dropped and named in x-gazeway-changed; ' +
        'otherwise such requests are refused.',
    ),
  cache: KeyCache.describe(
    'auto: sessions get marks and keys for the prompt caches of providers; off: only those of the client pass.',
  ),
  expires_at: KeyEnd.nullable()
    .describe('Expiry of the key: a time, or a duration from now; null for never.')
    .meta({ accepted: 'a future time, such as "2027-01-31T00:00:00Z", a duration from now, such as "90d", or null' }),
}

/** A request to create a key. */
export const NewKey = z.strictObject({
  name: fields.name,
  scopes: z.array(Scope).min(1).max(Scope.options.length).default(['inference']).describe('Scopes of the key.'),
  group: fields.group.default(null),
  wallet: WalletAddress.nullable().default(null).describe('Wallet address bound to the key.'),
  billing: fields.billing
    .optional()
    .describe(
      `${fields.billing.description} By default wallet.billing.platform for the scope platform, else wallet.billing.other.`,
    ),
  limits: fields.limits.default({}),
  alerts: fields.alerts.default([]),
  models: fields.models.default(null),
  lenient: fields.lenient.default(false),
  cache: fields.cache.default('auto'),
  expires_at: fields.expires_at.default(null),
})

/** A change of a key. Absent fields stay, within `limits` too; null removes a limit. */
export const KeyChange = z
  .strictObject({ ...fields, limits: fields.limits.describe('Absent limits stay; null removes one.') })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'nothing to change')
  .meta({ accepted: `an object with ${Object.keys(fields).join(', ')}, or several of them` })

/** A rotation of a key. */
export const KeyRotation = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(MAX_GRACE_SECONDS)
    .default(DEFAULT_GRACE_SECONDS)
    .describe('Grace period of the previous secret, in seconds.'),
})

/** A key in replies, without its token, which is shown once only. */
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
    ...SESSION_LIMITS,
  }),
  alerts: ShownAlerts,
  models: z.array(z.string()).nullable().describe('Globs of allowed models; null for all.'),
  lenient: z.boolean(),
  cache: KeyCache,
  expires_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().describe('Time of the last use, updated at most once a minute.'),
  rotated_at: z.iso.datetime().nullable(),
  revoked_at: z.iso.datetime().nullable(),
  spend: Spend,
  debt_usd: Debt,
  presumed_usd: PresumedUsd,
})
export type KeyRecord = z.infer<typeof KeyRecord>

/** Reads the scopes of a stored key. */
export const scopesOf = (row: Pick<KeyRow, 'scopes'>): Scope[] => z.array(Scope).parse(JSON.parse(row.scopes))

/** Reads the model globs of a stored key; null for all. */
export const modelsOf = (row: Pick<KeyRow, 'models'>): string[] | null =>
  row.models === null ? null : z.array(z.string()).parse(JSON.parse(row.models))
