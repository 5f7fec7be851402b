import { Challenge, Receipt } from 'mppx'
import { Mppx, tempo } from 'mppx/server'
import { createClient, defineChain, formatUnits, type Hex, keccak256, TransactionReceiptNotFoundError } from 'viem'
import { getTransactionReceipt } from 'viem/actions'
import { Transaction } from 'viem/tempo'
import { tempoModerato } from 'viem/tempo/chains'
import * as z from 'zod'
import { nodeTransport, openNode } from '../chain/chain-node.ts'
import { requireDecimals } from '../chain/token-contract.ts'
import { GazewayError } from '../errors.ts'
import type { PaymentMethod, Terms } from './payment.ts'
import type { PaymentSettings, TempoSettings } from './payment-settings.ts'
import { unique, uniqueOf } from './unique-challenge.ts'

/** Timeout of a node during a check, in milliseconds. */
const PATIENCE_MS = 10_000
/** Decimals of amounts in challenges. */
const USD_DECIMALS = 6

/** Details of a valid credential in mppx. */
const Details = z.object({ sender: z.string(), serializedTransaction: z.string() })

/** Payment method for Tempo: the payer signs a transaction and pays its fee in the token, this gateway sends it. */
export function tempoMethod(settings: TempoSettings, common: PaymentSettings): PaymentMethod {
  const { chainId, rpcUrl, token } = settings
  const chain = defineChain({ ...tempoModerato, id: chainId, rpcUrls: { default: { http: [rpcUrl] } } })
  const client = createClient({ chain, transport: nodeTransport(rpcUrl) })
  const mppx = Mppx.create({
    methods: [
      tempo.charge({
        getClient: () => client,
        currency: token,
        recipient: common.recipient,
        // Only transactions sent here settle, so a refused payer has paid nothing.
        supportedModes: ['pull'],
      }),
    ],
    realm: common.realm,
    secretKey: common.secretKey,
  })

  /** Expected challenge of a credential. */
  const expected = (credential: string, { amount, scope }: Terms) => ({
    realm: common.realm,
    scope,
    meta: uniqueOf(credential),
    request: { amount: formatUnits(BigInt(amount), 6), chainId },
  })

  /** Blocks of Tempo are final, so one receipt is enough. */
  async function find({ proof }: { proof: string }): Promise<string | null> {
    try {
      const { status } = await getTransactionReceipt(client, { hash: proof as Hex })
      return status === 'success' ? proof : null
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null
      throw error
    }
  }

  return {
    name: 'tempo',
    verify: () => verify(settings),
    // The payer pays the fee.
    least: () => 1,
    async challenge({ amount, scope, description }) {
      const terms = { amount: formatUnits(BigInt(amount), 6), chainId, scope, description }
      return Challenge.serialize(await mppx.challenge.tempo.charge({ ...terms, meta: unique() }))
    },
    async check(credential, terms) {
      const { details } = await mppx.validateCredential(credential, expected(credential, terms))
      const { sender, serializedTransaction } = Details.parse(details)
      // Nodes identify a transaction by its canonical form, which may differ from the signed form.
      const canonical = await Transaction.serialize(Transaction.deserialize(serializedTransaction as Hex))
      return { payer: sender.toLowerCase(), proof: keccak256(canonical) }
    },
    async settle(credential, terms) {
      const receipt = await mppx.broadcastCredential(credential, expected(credential, terms))
      return { reference: receipt.reference, receipt: Receipt.serialize(receipt) }
    },
    find,
    isOpen: async (payment) => (await find(payment)) !== null,
  }
}

async function verify({ chainId, rpcUrl, token }: TempoSettings): Promise<string> {
  const node = openNode({ chainId, rpcUrl, timeoutMs: PATIENCE_MS })
  try {
    const id = await node.client.getChainId()
    if (id !== chainId) throw wrongNode(`The node is on chain ${id}, not ${chainId}. Check mpp.tempo.rpc_url.`)
    await requireDecimals(node, { address: token, symbol: 'The token', decimals: USD_DECIMALS }, 'mpp.tempo.token')
  } catch (error) {
    if (error instanceof GazewayError && error.code === 'config_invalid') throw error
    const fault = `mpp.tempo.rpc_url: ${node.faultOf(error)}`
    throw new GazewayError('upstream_unreachable', fault, { param: 'mpp.tempo.rpc_url', cause: error })
  }
  return `tempo (chain ${chainId})`
}

const wrongNode = (fault: string): GazewayError =>
  new GazewayError('config_invalid', `mpp.tempo.rpc_url: ${fault}`, { param: 'mpp.tempo.rpc_url' })
