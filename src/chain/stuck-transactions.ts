import type { ChainAccount } from './account.ts'
import { attempt, type Followers } from './followers.ts'
import { signEmpty, signReplacement } from './sign-replacement.ts'
import { keyMissing } from './signer.ts'
import type { SentTransaction, Transactions } from './transactions.ts'

/** Resent transactions per round; later ones wait for them anyway. */
const MAX_RESENT = 16

/** Statuses of transactions without a replacement. */
const STANDING = new Set(['sent', 'final'])

/** Transactions that are not mined yet. */
export interface Pending {
  /** Keeps `waiting`, which are in the order of their nonces, moving. `count` is the account's next nonce. */
  tend(waiting: readonly SentTransaction[], count: number): Promise<void>
  /** Forgets when a transaction was last resent. */
  forget(nonce: number): void
}

/** Options of {@link createPending}. */
export interface PendingOptions {
  /** Age at which the first pending transaction gets a higher fee, in milliseconds. */
  stuckMs: number
  /** Interval between resends in milliseconds. */
  resendMs: number
}

/** Resends the account's pending transactions that a node lost, and raises the fee of stuck ones. */
export function createPending(account: ChainAccount, followers: Followers, options: PendingOptions): Pending {
  const { now, node, transactions, address, signer } = account
  const resent = new Map<number, number>()
  let first = { nonce: -1, since: 0 }
  const isStuck = () => now().getTime() - first.since >= options.stuckMs

  async function tell(sent: SentTransaction, fault: string | null): Promise<void> {
    if (fault !== null) await followers.onFault?.(sent, fault)
  }

  /** @param hindrance known reason why it is not mined */
  async function push(sent: SentTransaction, hindrance: string | null): Promise<void> {
    const at = now().getTime()
    const since = Math.max(first.since, Date.parse(sent.signed_at))
    if (signer.hasKey && sent.nonce === first.nonce && at - since >= options.stuckMs) return replace(sent)
    if (at - (resent.get(sent.nonce) ?? -options.resendMs) < options.resendMs) return
    resent.set(sent.nonce, at)
    const fault = await account.broadcast(sent.raw)
    await tell(sent, hindrance ?? (fault && (signer.hasKey ? fault : `${fault} ${keyMissing(address).message}`)))
  }

  async function replace(sent: SentTransaction): Promise<void> {
    const by = await signReplacement(account, sent)
    if (by === null) {
      first.since = now().getTime()
      resent.delete(sent.nonce)
      return tell(sent, FEE_TOO_HIGH)
    }
    if (!(await transactions.replace(sent, by))) return
    resent.set(sent.nonce, now().getTime())
    await followers.onReplaced?.({ ...sent, ...by })
    await tell(sent, await account.broadcast(by.raw))
  }

  /**
   * Handles a next nonce of the account that is not among the pending transactions. Either a reorganisation removed a
   * confirmed transaction, which is resent. Or the nonce belonged to a lost transaction, signed elsewhere or replaced
   * under another nonce; an empty transaction then uses it.
   */
  async function closeGap(next: SentTransaction, count: number): Promise<void> {
    if (next.nonce === count) return
    const earlier = await transactions.find(count)
    if (earlier && STANDING.has(earlier.status)) return void (await account.broadcast(earlier.raw))
    if (!signer.hasKey || !isStuck()) return
    const raw = await signEmpty(account, count)
    first.since = now().getTime()
    await tell(next, await account.broadcast(raw))
  }

  return {
    forget: (nonce) => void resent.delete(nonce),

    async tend(waiting, count) {
      if (first.nonce !== count) first = { nonce: count, since: now().getTime() }
      const [next] = waiting
      if (next) await attempt(node, followers, next, () => closeGap(next, count))
      const gap = await findGap(transactions, waiting, count)
      const hindrance = ({ nonce }: SentTransaction) => {
        // Resending it unchanged may still get it mined; any other step needs a signature.
        if (!signer.hasKey) return isStuck() ? keyMissing(address).message : null
        return gap !== null && nonce > gap ? behind(gap) : null
      }
      for (const sent of waiting.slice(0, MAX_RESENT))
        await attempt(node, followers, sent, () => push(sent, hindrance(sent)))
      for (const sent of waiting.slice(MAX_RESENT)) await tell(sent, hindrance(sent))
    },
  }
}

/** Finds the first nonce from `count` on without a usable transaction, when later ones wait for it. */
async function findGap(
  transactions: Transactions,
  waiting: readonly SentTransaction[],
  count: number,
): Promise<number | null> {
  const at = waiting.findIndex(({ nonce }, i) => nonce !== count + i)
  if (at === -1) return null
  const earlier = await transactions.find(count + at)
  return earlier && STANDING.has(earlier.status) ? null : count + at
}

const FEE_TOO_HIGH =
  'It is not mined, and a higher fee would exceed chain.settlement.max_fee_gwei. Raise that limit, or wait for lower fees.'

const behind = (gap: number): string =>
  `It waits for the account's nonce ${gap}, for which no transaction signed here is pending. If the nonce stays unused, ` +
  'an empty transaction uses it after chain.settlement.stuck_after_seconds.'
