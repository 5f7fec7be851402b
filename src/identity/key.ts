import { z } from 'zod'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { isWhole, WHOLE } from '../store/text.ts'
import { Amount, toMicros, toUsd } from '../text/money.ts'

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

/** What a key is made from. */
export const NewKey = z.strictObject({
  name: z
    .string()
    .trim()
    .regex(/^\P{Cc}{1,100}$/u)
    .refine(isWhole, WHOLE)
    .describe('What the key is for, so that a person knows it again.')
    .meta({ accepted: 'text of 1 to 100 characters on one line' }),
  scopes: z.array(Scope).min(1).max(Scope.options.length).default(['inference']).describe('What the key may do.'),
  wallet: WalletAddress.nullable().default(null).describe('The wallet address that calls with this key belong to.'),
  credit_limit_usd: Amount.nullable().default(null).describe('How far the key may spend beyond its deposit, in USD.'),
  daily_limit_usd: Amount.nullable().default(null).describe('How much the key may spend in a day (UTC), in USD.'),
})

/** What can be changed of a key. What is left out stays; null takes a limit away. */
export const KeyChange = z
  .strictObject({
    name: NewKey.shape.name,
    credit_limit_usd: Amount.nullable().describe(
      'How far the key may spend beyond its deposit, in USD; null: wallet.default_credit_limit_usd.',
    ),
    daily_limit_usd: Amount.nullable().describe(
      'How much the key may spend in a day (UTC), in USD; null: no limit. What was spent while there was none is not counted.',
    ),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'nothing to change')
  .meta({ accepted: 'name, credit_limit_usd, daily_limit_usd, or several of them' })

/** A key as it is shown: everything but the token, which nothing can show again. */
export const KeyRecord = z.object({
  id: KeyId,
  name: z.string(),
  scopes: z.array(Scope),
  wallet: z.string().nullable(),
  credit_limit_usd: z.number().nullable(),
  daily_limit_usd: z.number().nullable(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().describe('The last use, written once a minute at most.'),
  revoked_at: z.iso.datetime().nullable(),
})
export type KeyRecord = z.infer<typeof KeyRecord>

/** The columns of `keys` that a record is made from. */
export const KEY_COLUMNS = [
  'id',
  'name',
  'scopes',
  'wallet',
  'credit_limit_micros',
  'daily_limit_micros',
  'created_at',
  'last_used_at',
  'revoked_at',
] as const

/** The row of a new key. */
export function toRow(key: z.infer<typeof NewKey>, of: { id: string; hash: Buffer; createdAt: string }): KeyRow {
  return {
    id: of.id,
    name: key.name,
    hash: of.hash.toString('hex'),
    scopes: JSON.stringify(Scope.options.filter((scope) => key.scopes.includes(scope))),
    wallet: key.wallet,
    credit_limit_micros: microsOrNull(key.credit_limit_usd),
    daily_limit_micros: microsOrNull(key.daily_limit_usd),
    first: null,
    created_at: of.createdAt,
    last_used_at: null,
    revoked_at: null,
  }
}

/** The columns that a change writes. */
export function toChangedColumns({ name, credit_limit_usd, daily_limit_usd }: z.infer<typeof KeyChange>) {
  return {
    ...(name !== undefined && { name }),
    ...(credit_limit_usd !== undefined && { credit_limit_micros: microsOrNull(credit_limit_usd) }),
    ...(daily_limit_usd !== undefined && { daily_limit_micros: microsOrNull(daily_limit_usd) }),
  }
}

/** The record of a stored key. */
export function toRecord(row: Pick<KeyRow, (typeof KEY_COLUMNS)[number]>): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    scopes: scopesOf(row),
    wallet: row.wallet,
    credit_limit_usd: usdOrNull(row.credit_limit_micros),
    daily_limit_usd: usdOrNull(row.daily_limit_micros),
    created_at: row.created_at,
    last_used_at: row.last_used_at,
    revoked_at: row.revoked_at,
  }
}

/** The scopes that a key was given. */
export const scopesOf = (row: Pick<KeyRow, 'scopes'>): Scope[] => z.array(Scope).parse(JSON.parse(row.scopes))

const microsOrNull = (usd: number | null) => (usd === null ? null : toMicros(usd))
const usdOrNull = (micros: number | null) => (micros === null ? null : toUsd(micros))
