import * as z from 'zod'
import { section } from './section.ts'
import { evmAddress, rpcUrl, tokenText, usd } from './setting-values.ts'

/** Payment methods. Each has its settings in `mpp` under its name. */
const PaymentMethodName = z.enum(['evm', 'tempo'])
export type PaymentMethodName = z.infer<typeof PaymentMethodName>
export const PAYMENT_METHODS = PaymentMethodName.options

/** A token with EIP-3009 on a chain, and what its transfers may cost. */
const evmToken = () =>
  z
    .strictObject({
      chain_id: z
        .int()
        .min(1)
        .nullable()
        .default(null)
        .describe('The chain, such as 84532 (Base Sepolia, a test network).'),
      rpc_url: rpcUrl.nullable().default(null).meta({
        description: 'A node of that chain, such as https://sepolia.base.org.',
        accepted: 'an http or https URL, or null',
        secret: 'value',
      }),
      token: evmAddress
        .nullable()
        .default(null)
        .describe('The token, such as 0x036CbD53842c5426634e7929541eC2318f3dCF7e (USDC on Base Sepolia).'),
      token_name: tokenText.nullable().default(null).describe("The name in the token's EIP-712 domain, such as USDC."),
      token_version: tokenText
        .nullable()
        .default(null)
        .describe("The version in the token's EIP-712 domain, such as 2."),
      decimals: z.int().min(6).max(36).default(6).describe('Decimal places of the token.'),
      confirmations: z
        .int()
        .min(1)
        .max(1000)
        .default(1)
        .describe('Confirmations of a payment, its own block included; the payer waits for them.'),
      coin_usd: usd.nullable().default(null).meta({
        description:
          "Price of the chain's native coin in USD. If set, prices below the gas of a transfer are rejected at startup.",
      }),
      max_gas_per_hour: z
        .number()
        .min(0.000000001)
        .max(1_000_000)
        .default(0.02)
        .describe("Maximum gas cost of payments per hour, in the chain's native coin."),
    })
    .prefault({})

/** A token of the Tempo network. */
const tempoToken = () =>
  z
    .strictObject({
      chain_id: z.int().min(1).default(42_431).describe('The chain; 42431 is the test network.'),
      rpc_url: rpcUrl.nullable().default(null).meta({
        description: "A node of that chain. Unset: the test network's own, https://rpc.moderato.tempo.xyz.",
        accepted: 'an http or https URL, or null',
        secret: 'value',
      }),
      token: evmAddress
        .default('0x20c0000000000000000000000000000000000000')
        .describe('The token; pathUSD unless set.'),
    })
    .prefault({})

/** Payment per request, over HTTP 402. */
export const mppSection = section(
  () => ({
    enabled: z.boolean().default(false).describe('Charge each request to /v1 of the platform over HTTP 402 (MPP).'),
    secret_key: z
      .string()
      .regex(/^[\x21-\x7e]{32,4096}$/)
      .nullable()
      .default(null)
      .meta({
        variable: 'GAZEWAY_MPP_SECRET_KEY',
        description: 'Signing secret of challenges; must be the same in all processes of one platform.',
        accepted: 'at least 32 characters without spaces, or null',
        secret: 'value',
      }),
    realm: z
      .string()
      .regex(/^[\w.:-]{1,128}$/)
      .default('gazeway')
      .meta({ description: 'Name of this platform in challenges.', accepted: 'a name without spaces' }),
    methods: z
      .array(PaymentMethodName)
      .min(1)
      .max(PAYMENT_METHODS.length)
      .default(['evm'])
      .describe('Payment methods: evm is a token with EIP-3009 on any EVM chain, tempo is the Tempo network.'),
    amount_usd: usd
      .min(0.000001)
      .default(0.09)
      .meta({ description: 'Price of one request in USD; one token counts as one USD.', restart: false }),
    min_deposit_usd: usd.min(0.000001).default(1).meta({
      description: 'Minimum deposit over MPP in USD: each costs gas.',
      restart: false,
    }),
    requests_per_minute: z.int().min(1).max(1_000_000).default(300).meta({
      description: 'Requests per minute of one address without a key, on paid paths.',
      restart: false,
    }),
    recipient: evmAddress.nullable().default(null).describe('Recipient address of payments.'),
    evm: evmToken(),
    tempo: tempoToken(),
  }),
  { restart: true },
)
