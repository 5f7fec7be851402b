import type { Settlements } from '../chain/settlements.ts'
import { GazewayError } from '../errors.ts'
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
   * Whom an escrow is paid to.
   *
   * @param recipient who was named; null pays the key that completed the task
   * @param claimedBy that key's id
   * @throws GazewayError as `check`, but for a key that was revoked since; also where nobody was named and the key has no
   *   wallet that the chain could pay
   */
  find(recipient: string | null, claimedBy: string): Promise<Payee>
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
  async function find(recipient: string | null, claimedBy: string): Promise<Payee> {
    if (settlements.mode === 'evm') {
      const address = recipient ?? (await walletOf(store, claimedBy))
      settlements.requireRecipient(address)
      return { recipient: address ?? '', account: null }
    }
    const named = recipient ?? claimedBy
    return { recipient: named, account: await knownCaller(store, named, { orRevoked: true }).catch(nameParam) }
  }
  return {
    find,
    async check(recipient) {
      if (settlements.mode === 'evm') settlements.requireRecipient(recipient)
      else await knownCaller(store, recipient, { hasFixedKey: hasFixedKey() }).catch(nameParam)
    },
  }
}

async function walletOf({ db }: Store, keyId: string): Promise<string | null> {
  const key = await db.selectFrom('keys').select('wallet').where('id', '=', keyId).executeTakeFirst()
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
