import type { Billing } from '../config/sections/wallet-section.ts'
import { GazewayError } from '../errors.ts'
import type { Micros } from '../text/money.ts'
import { type Budget, toBudgets } from './budgets.ts'
import type { CheckedRow } from './checked-keys.ts'
import { modelsOf, Scope, scopesOf } from './key.ts'

/** Who makes a call, as far as its key tells, and what the key is held to. A limit of null is no limit. */
export interface Identity {
  /** The key's id, which is what call records and receipts name. */
  id: string
  name: string
  /** All that the key may do: `admin` brings every other scope with it. */
  scopes: ReadonlySet<Scope>
  /** The wallet address bound to the key, in lower case. */
  wallet: string | null
  billing: Billing
  /** The group that the key is in, whose budgets its calls count against too. */
  group: { id: string; budgets: readonly Budget[] } | null
  /** The key's own budgets. */
  budgets: readonly Budget[]
  /** How far it may spend beyond its deposits; null is `wallet.default_credit_limit_usd`. */
  creditLimitMicros: Micros | null
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  /** Calls at a time. */
  concurrent: number | null
  /** Globs of the models that it may ask; null is all. */
  models: readonly string[] | null
  /** From when on the key is refused, RFC 3339. */
  expiresAt: string | null
  /** Set where the request was paid for by itself: it is not billed to the key that the payer's wallet is bound to. */
  isPaid?: boolean
}

/** What an identity is held to that comes from no key: nothing. */
const UNLIMITED = {
  billing: 'recorded',
  group: null,
  budgets: [],
  creditLimitMicros: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrent: null,
  models: null,
  expiresAt: null,
} as const satisfies Partial<Identity>

/** The identity of someone who has no key, such as a wallet that pays for a request. */
export const identityWithoutKey = (of: Pick<Identity, 'id' | 'name' | 'scopes' | 'wallet'>): Identity =>
  Object.freeze({ ...UNLIMITED, ...of })

/** Whether what a call of it may cost is set aside first. */
export const isHeld = ({ billing, budgets, group }: Identity): boolean =>
  billing !== 'recorded' || budgets.length > 0 || (group?.budgets.length ?? 0) > 0

/** The identity behind the fixed key of the configuration. */
export const ENVIRONMENT_IDENTITY: Identity = identityWithoutKey({
  id: 'key_environment',
  name: 'GAZEWAY_API_KEY',
  scopes: implied(['admin']),
  wallet: null,
})

/** The identity behind a stored key. */
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
    creditLimitMicros: row.credit_limit_micros,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    concurrent: row.concurrent,
    models: modelsOf(row),
    expiresAt: row.expires_at,
  })
}

/** @throws GazewayError `insufficient_scope` when the key was not given `scope` */
export function requireScope(identity: Identity, scope: Scope): void {
  if (identity.scopes.has(scope)) return
  throw new GazewayError(
    'insufficient_scope',
    `This needs a key with the scope ${scope}; yours has ${[...identity.scopes].join(', ')}. ` +
      `Make one with: gazeway key create --name NAME --scope ${scope}`,
  )
}

/** The refusal of a key that has expired. */
export function expired({ expiresAt }: Identity): GazewayError {
  return new GazewayError(
    'key_expired',
    `This key expired at ${expiresAt}. Ask an administrator to move its end (gazeway key edit ID --expires 90d, or PATCH ` +
      '/api/keys/{id}), or for a new key (gazeway key create --name NAME).',
  )
}

function implied(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.includes('admin') ? Scope.options : scopes)
}
