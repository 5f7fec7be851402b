import { Challenge, evm as Evm, Receipt } from 'mppx'
import { evm } from 'mppx/evm/server'
import { Mppx } from 'mppx/server/core'
import { formatUnits } from 'viem'
import type { ChainAccount } from '../chain/account.ts'
import { tokenUnits } from '../chain/token-transfer.ts'
import { createEvmCheck } from './evm-check.ts'
import { createEvmSettlement } from './evm-settlement.ts'
import type { PaymentMethod, SoughtPayment, Terms } from './payment.ts'
import type { EvmSettings, PaymentSettings } from './payment-settings.ts'
import { paymentRequired } from './refusal.ts'
import { unique, uniqueOf } from './unique-challenge.ts'

/**
 * Longest validity of an authorization in milliseconds. Its payment is watched for this long, because anyone may submit
 * the authorization.
 */
const LONGEST_VALID_MS = 24 * 3_600_000

/**
 * Payment method for EIP-3009 tokens on EVM chains: the payer signs, this gateway sends the transaction and pays the
 * gas.
 */
export function evmMethod(settings: EvmSettings, common: PaymentSettings, account: ChainAccount): PaymentMethod {
  const { token, gasPerHour } = settings
  const check = createEvmCheck(settings, common, account)
  const settlement = createEvmSettlement({ token, gasPerHour, recipient: common.recipient }, account, check)
  const onChain = ({ payer, proof, amount }: SoughtPayment) => ({
    payer,
    nonce: proof,
    units: tokenUnits(amount, settings.decimals),
  })
  const mppx = Mppx.create({
    methods: [
      evm.charge({
        chainId: settings.chainId,
        currency: token,
        authorization: settings.domain,
        decimals: settings.decimals,
        recipient: common.recipient,
        settle: async ({ payload }) => ({ reference: await settlement.settle(payload) }),
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
    request: { amount: formatUnits(BigInt(amount), 6) },
  })
  /** Reads the authorization of a credential, and verifies its challenge and signature. */
  async function signed(credential: string, terms: Terms) {
    const { credential: parsed } = await mppx.validateCredential(credential, expected(credential, terms))
    return Evm.Types.ChargePayloadSchema.parse(parsed.payload)
  }
  return {
    name: 'evm',
    verify: check.run,
    least: check.least,
    async challenge({ amount, scope, description }) {
      const terms = { amount: formatUnits(BigInt(amount), 6), scope, description }
      return Challenge.serialize(await mppx.challenge.evm.charge({ ...terms, meta: unique() }))
    },
    async check(credential, terms) {
      const payload = await signed(credential, terms)
      const validUntil = Number(payload.validBefore) * 1000
      if (validUntil > Date.now() + LONGEST_VALID_MS) throw validTooLong()
      await settlement.tryOut(payload)
      return { payer: payload.from.toLowerCase(), proof: payload.nonce, validUntil }
    },
    signer: async (credential, terms) => (await signed(credential, terms)).from.toLowerCase(),
    async settle(credential, terms) {
      const receipt = await mppx.broadcastCredential(credential, expected(credential, terms))
      return { reference: receipt.reference, receipt: Receipt.serialize(receipt) }
    },
    find: (payment) => settlement.find(onChain(payment)),
    isOpen: (payment) => settlement.isOpen(onChain(payment)),
    isSpent: (payment) => settlement.isSpent(onChain(payment)),
    tend: settlement.tend,
  }
}

const validTooLong = () =>
  paymentRequired('The authorization is valid for more than a day. Set validBefore to the expiry of the challenge.')
