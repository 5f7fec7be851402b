import { GazewayError } from '../errors.ts'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { Scope, scopesOf } from './key.ts'

/** Who makes a call, as far as its key tells. */
export interface Identity {
  /** The key's id, which is what call records and receipts name. */
  id: string
  name: string
  /** All that the key may do: `admin` brings every other scope with it. */
  scopes: ReadonlySet<Scope>
  /** The wallet address bound to the key, in lower case. */
  wallet: string | null
}

/** The identity behind the fixed key of the configuration. */
export const ENVIRONMENT_IDENTITY: Identity = Object.freeze({
  id: 'key_environment',
  name: 'GAZEWAY_API_KEY',
  scopes: implied(['admin']),
  wallet: null,
})

/** The identity behind a stored key. */
export function identityOf(row: Pick<KeyRow, 'id' | 'name' | 'scopes' | 'wallet'>): Identity {
  return Object.freeze({ id: row.id, name: row.name, scopes: implied(scopesOf(row)), wallet: row.wallet })
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

function implied(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.includes('admin') ? Scope.options : scopes)
}
