import type { SettlementMode, Settlements } from '../chain/settlements.ts'
import { GazewayError } from '../errors.ts'
import { WalletAddress } from '../identity/key.ts'
import type { Store } from '../store/store.ts'
import { knownCaller } from '../wallet/ledger/deposits.ts'
import type { Payee } from './escrow-transfers.ts'

/** Recipients of rewards. */
export interface Payees {
  /**
   * Checks a recipient that is named when the money is locked.
   *
   * @throws GazewayError `validation_failed` for a missing or revoked key, or for a recipient without an address where
   *   payments settle on a chain
   */
  check(recipient: string): Promise<void>
  /**
   * Finds the account or address to pay. On a chain a key is paid at its wallet; a key without a wallet is paid in the
   * ledger.
   *
   * @param recipient key id or address
   * @param mode settlement of the escrow; the ledger pays when settlement on a chain was turned off since
   * @throws GazewayError as `check`, except for a key that was revoked since
   */
  find(recipient: string, mode: SettlementMode): Promise<Payee>
}

/**
 * Creates the payees of `store`. In the ledger a wallet's money goes to the key it is bound to, as deposits do; on a
 * chain it goes to the address.
 */
export function createPayees({
  store,
  settlements,
  hasFixedKey = () => false,
}: {
  store: Store
  settlements: Settlements
  /** Tells whether a fixed key is set. */
  hasFixedKey?: () => boolean
}): Payees {
  async function find(recipient: string, mode: SettlementMode): Promise<Payee> {
    const address = mode === 'evm' && settlements.mode === 'evm' ? await addressOf(store, recipient) : null
    if (address === null)
      return { recipient, account: await knownCaller(store, recipient, { orRevoked: true }).catch(nameParam) }
    settlements.requireRecipient(address)
    return { recipient: address, account: null }
  }
  return {
    find,
    async check(recipient) {
      if (settlements.mode === 'evm') settlements.requireRecipient(recipient)
      else await knownCaller(store, recipient, { hasFixedKey: hasFixedKey() }).catch(nameParam)
    },
  }
}

async function addressOf({ db }: Store, recipient: string): Promise<string | null> {
  const address = WalletAddress.safeParse(recipient)
  if (address.success) return address.data
  const key = await db.selectFrom('keys').select('wallet').where('id', '=', recipient).executeTakeFirst()
  return key?.wallet ?? null
}

/** Rewrites an error to name `recipient`. */
function nameParam(error: unknown): never {
  if (!(error instanceof GazewayError) || error.code !== 'not_found') throw error
  throw new GazewayError('validation_failed', 'recipient: neither the id of a valid key nor a wallet address.', {
    param: 'recipient',
    cause: error,
  })
}
