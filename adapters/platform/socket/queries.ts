import type { Chain } from '../../../src/chain/chain.ts'
import type { Config } from '../../../src/config/config-schema.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { readLedgerHead } from '../../../src/wallet/ledger/ledger-head.ts'
import type { AnswerDeps, Speaker } from './socket-answers.ts'

/** Lifetime of the cached ledger head, in milliseconds. */
const HEAD_MS = 5_000

/** Sources of the operator's figures. */
export interface QueryDeps extends Pick<Gateway, 'store' | 'wallet' | 'gaze'> {
  chain: Pick<Chain, 'address' | 'balances' | 'registration' | 'settlements' | 'status' | 'vault'>
  /** Current configuration. */
  config: () => Pick<Config, 'mpp'>
}

/** Creates the queries of the operator's figures. Concurrent queries of the ledger head share one read. */
export function operatorQueries({ store, wallet, gaze, chain, config }: QueryDeps): AnswerDeps['queries'] {
  let newest: { at: number; head: Promise<{ ledger_head: string; checked_at: string }> } | undefined

  function ledgerHead() {
    if (newest === undefined || performance.now() - newest.at > HEAD_MS) {
      const head = readLedgerHead(store).then((hash) => ({ ledger_head: hash, checked_at: new Date().toISOString() }))
      newest = { at: performance.now(), head }
      head.catch(() => {
        // Waiting callers get the error. The next query reads the head again.
        newest = undefined
      })
    }
    return newest.head
  }

  /** Attestation of the connection's session; null when it has no gaze records. */
  async function attestation(sessionId: string) {
    try {
      return await gaze.attestation(sessionId)
    } catch (error) {
      if (error instanceof GazewayError && error.code === 'not_found') return null
      throw error
    }
  }

  return {
    async wallet_status({ identity, sessionId }: Speaker) {
      const address = await chain.address()
      const [ledger, balances, attested] = await Promise.all([
        wallet.balances(identity.id),
        address === null ? [] : chain.balances(address),
        attestation(sessionId),
      ])
      return {
        address,
        agent: identity.id,
        settlement: chain.settlements.mode,
        ledger,
        balances,
        attestation: attested,
      }
    },
    async wallet_metadata({ reachedAt }: Speaker) {
      // Also in a field of its own, because the frame's `type` replaces that of the file.
      const registration = await chain.registration(reachedAt)
      return { ...registration, registration }
    },
    x402_policy: async () => paymentPolicy(config().mpp),
    async bridge_status() {
      const [chains, vault, attestation] = await Promise.all([chain.status(), chain.vault(), ledgerHead()])
      return { chains, vault, attestation }
    },
  }
}

/** Price of a request to `/v1` and the ways to pay it: networks by CAIP-2, assets by CAIP-19. */
function paymentPolicy(mpp: Config['mpp']) {
  const { enabled, methods, amount_usd, recipient } = mpp
  const accepted = methods.flatMap((method) => {
    const { chain_id, token } = mpp[method]
    return chain_id === null ? [] : [{ network: `eip155:${chain_id}`, token }]
  })
  return {
    enabled,
    max_amount_usd: amount_usd,
    networks: [...new Set(accepted.map(({ network }) => network))],
    assets: accepted.flatMap(({ network, token }) => (token === null ? [] : [`${network}/erc20:${token}`])),
    pay_to: recipient,
  }
}
