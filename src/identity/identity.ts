import type { Billing } from '../config/sections/wallet-section.ts'
import { GazewayError } from '../errors.ts'
import type { Micros } from '../text/money.ts'
import { type Budget, toBudgets } from './budgets.ts'
import type { CheckedRow } from './checked-keys.ts'
import { type KeyCache, modelsOf, Scope, scopesOf } from './key.ts'
import { type SessionLimits, sessionLimitsOf } from './session-limits.ts'

/** Caller and its limits, as its key states them. Null limits are unlimited. */
export interface Identity {
  /** Id of the key, as in call records and receipts. */
  id: string
  name: string
  /** Effective scopes: `admin` includes all others. */
  scopes: ReadonlySet<Scope>
  /** Wallet address bound to the key, in lower case. */
  wallet: string | null
  billing: Billing
  /** Group of the key, whose budgets apply too. */
  group: { id: string; budgets: readonly Budget[] } | null
  /** Own budgets of the key. */
  budgets: readonly Budget[]
  /** Limits of each of its sessions, its group's included. */
  sessionLimits: SessionLimits | null
  /** Credit beyond its deposits; null for `wallet.default_credit_limit_usd`. */
  creditLimitMicros: Micros | null
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  /** Maximum number of concurrent calls; null: no limit. */
  concurrent: number | null
  /** Globs of allowed models; null for all. */
  models: readonly string[] | null
  /** True when its requests lose what an upstream cannot express. */
  lenient: boolean
  /** `off` where its requests get no marks and keys for caches from Gazeway. */
  cache: KeyCache
  /** Expiry of the key, RFC 3339. */
  expiresAt: string | null
  /** Set when the request itself was paid for, so that the payer's key is not billed. */
  isPaid?: boolean
  /** Address of the client, set when another service of this process calls on behalf of it. */
  address?: string | null
}

/** Limits of an identity without a key: none. */
const UNLIMITED = {
  billing: 'recorded',
  group: null,
  budgets: [],
  sessionLimits: null,
  creditLimitMicros: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrent: null,
  models: null,
  lenient: false,
  cache: 'auto',
  expiresAt: null,
} as const satisfies Partial<Identity>

/** Creates the identity of a caller without a key, such as a wallet that pays for a request. */
export const identityWithoutKey = (of: Pick<Identity, 'id' | 'name' | 'scopes' | 'wallet'>): Identity =>
  Object.freeze({ ...UNLIMITED, ...of })

/** Tells whether the cost of a call is reserved first. */
export const isHeld = ({ billing, budgets, group, sessionLimits }: Identity): boolean =>
  billing !== 'recorded' ||
  budgets.length > 0 ||
  (group?.budgets.length ?? 0) > 0 ||
  (sessionLimits?.micros ?? null) !== null

/** A caller whose call costs the operator nothing, so that only its other limits hold. */
export const withoutMoney = (caller: Identity): Identity => ({
  ...caller,
  billing: 'recorded',
  budgets: [],
  group: null,
  sessionLimits: caller.sessionLimits && { ...caller.sessionLimits, micros: null },
})

/** Identity of the configuration's fixed key. */
export const ENVIRONMENT_IDENTITY: Identity = identityWithoutKey({
  id: 'key_environment',
  name: 'GAZEWAY_API_KEY',
  scopes: implied(['admin']),
  wallet: null,
})

/** Builds the identity of a stored key. */
export function identityOf(row: CheckedRow): Identity {
  const { id, group_id } = row
  const budgetsOf = (owner: string) => toBudgets(row.budgets.filter((budget) => budget.owner === owner))
  return Object.freeze({
    id,
    name: row.name,
    scopes: implied(scopesOf(row)),
    wallet: row.wallet,
    billing: row.billing,
    group: group_id === null ? null : { id: group_id, budgets: budgetsOf(group_id) },
    budgets: budgetsOf(id),
    sessionLimits: sessionLimitsOf(row.sessions),
    creditLimitMicros: row.credit_limit_micros,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    concurrent: row.concurrent,
    models: modelsOf(row),
    lenient: row.lenient === 1,
    cache: row.cache,
    expiresAt: row.expires_at,
  })
}

/**
 * Admits keys with a scope.
 *
 * @throws GazewayError `insufficient_scope` when the key lacks `scope`
 */
export function requireScope(identity: Identity, scope: Scope): void {
  const fault = scopeFault(identity, scope)
  if (fault !== null) throw fault
}

/** Error for a key without `scope`; null when it has it. */
export function scopeFault({ scopes }: Identity, scope: Scope): GazewayError | null {
  if (scopes.has(scope)) return null
  return new GazewayError(
    'insufficient_scope',
    `This request needs a key with the scope ${scope}; yours has ${[...scopes].join(', ')}. ` +
      `Create one with: gazeway key create --name NAME --scope ${scope}`,
  )
}

/** Error for an expired key. */
export function expired({ expiresAt }: Identity): GazewayError {
  return new GazewayError(
    'key_expired',
    `This key expired at ${expiresAt}. Ask an administrator to extend it (gazeway key edit ID --expires 90d, or PATCH ` +
      '/api/keys/{id}), or for a new key (gazeway key create --name NAME).',
  )
}

function implied(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.includes('admin') ? Scope.options : scopes)
}
