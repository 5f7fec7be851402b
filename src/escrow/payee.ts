import type { SettlementMode, Settlements } from '../chain/settlements.ts'
import { GazewayError } from '../errors.ts'
import { WalletAddress } from '../identity/key.ts'
import type { Store } from '../store/store.ts'
import { knownCaller } from '../wallet/deposits.ts'
import type { Payee } from './moves.ts'

/** Whom rewards can be paid to. */
export interface Payees {
  /**
   * Checks a recipient that is named before it is known who does the task.
   *
   * @throws GazewayError `validation_failed` for a key that does not exist or was revoked, or for what is no address where
   *   payments settle on a chain
   */
  check(recipient: string): Promise<void>
  /**
   * Whom an escrow is paid to. On a chain a key is paid at its wallet; one without a wallet, in the ledger.
   *
   * @param recipient a key's id or an address
   * @param mode where the escrow is paid; in the ledger also where nothing is paid on a chain any more
   * @throws GazewayError as `check`, but for a key that was revoked since
   */
  find(recipient: string, mode: SettlementMode): Promise<Payee>
}

/** In the ledger a wallet's account is that of the key that it is bound to, as for deposits; on a chain it is its own. */
export function createPayees({
  store,
  settlements,
  hasFixedKey = () => false,
}: {
  store: Store
  settlements: Settlements
  /** Whether a fixed key is set. */
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

/** The same refusal, about `recipient`. */
function nameParam(error: unknown): never {
  if (!(error instanceof GazewayError) || error.code !== 'not_found') throw error
  throw new GazewayError(
    'validation_failed',
    'recipient: there is no key in force with this id, and it is not a wallet address.',
    {
      param: 'recipient',
      cause: error,
    },
  )
}
