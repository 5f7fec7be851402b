import * as z from 'zod'
import { lazySchema, section } from './section.ts'
import { evmAddress, milliseconds, rpcUrl } from './setting-values.ts'

/** Chain id as the name of an entry, where JSON has no numbers. */
const chainId = lazySchema(() =>
  z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .meta({ accepted: 'the id of a chain, such as 84532' }),
)
const symbol = lazySchema(() =>
  z
    .string()
    .regex(/^[\w.-]{1,32}$/)
    .meta({ accepted: 'a symbol such as USDC' }),
)
const decimals = lazySchema(() => z.int().min(0).max(36))

/** An EVM chain, without its node's address, which may contain a key. */
const network = lazySchema(() =>
  z.strictObject({
    name: z.string().min(1).max(64),
    native: z.strictObject({ symbol: symbol().default('ETH'), decimals: decimals().default(18) }).prefault({}),
    tokens: z
      .array(z.strictObject({ symbol: symbol(), address: evmAddress, decimals: decimals() }))
      .max(50)
      .default([]),
    timeout_ms: milliseconds.max(60_000).default(5000),
    confirmations: z.int().min(1).max(1000).default(2),
    explorer: z
      .url({ protocol: /^https?$/ })
      .max(512)
      .nullable()
      .default(null),
  }),
)

/** Payment of released escrows. */
const settlement = () =>
  z
    .strictObject({
      mode: z
        .enum(['ledger', 'evm'])
        .default('ledger')
        .describe('How released escrows are paid: in the ledger, or with a token on a chain.'),
      chain_id: z.int().min(1).nullable().default(null).describe('Chain that pays escrows; one of networks.'),
      token: symbol()
        .nullable()
        .default(null)
        .describe('Symbol of the payment token on that chain; one token counts as one USD.'),
      poll_ms: milliseconds.min(10).max(60_000).default(1000).describe('Polling interval of the chain.'),
      stuck_after_seconds: z
        .int()
        .min(1)
        .max(86_400)
        .default(60)
        .describe('Time until a pending transaction is replaced by one with a higher fee.'),
      max_fee_gwei: z
        .number()
        .min(0.000001)
        .max(1_000_000)
        .default(100)
        .describe('Maximum gas price, in billionths of the native coin (gwei).'),
    })
    .prefault({})

/** Identity of this agent. */
const agent = () =>
  z
    .strictObject({
      name: z.string().min(1).max(128).default('Gazeway').describe('Name of the agent.'),
      description: z
        .string()
        .min(1)
        .max(2000)
        .default('A self-hosted agent gateway: research and chat models, memory, tasks with escrow, gaze attestation.')
        .describe('Description of the agent.'),
      image: z
        .url({ protocol: /^(https?|ipfs|data)$/ })
        .max(4096)
        .nullable()
        .default(null)
        .describe('Image of the agent.'),
      public_url: z
        .url({ protocol: /^https?$/ })
        .max(512)
        .nullable()
        .default(null)
        .describe('Public address of the platform. Unset: the address of the request.'),
      active: z.boolean().default(true).describe('Whether the agent accepts requests.'),
      supported_trust: z
        .array(z.string().regex(/^[\w-]{1,64}$/))
        .max(16)
        .default([])
        .describe('Supported trust models of ERC-8004, such as reputation.'),
      registrations: z
        .array(
          z.strictObject({
            agent_id: z.int().min(0),
            agent_registry: z.string().regex(/^eip155:\d{1,15}:0x[0-9a-fA-F]{40}$/),
          }),
        )
        .max(50)
        .default([])
        .meta({
          description: 'Registrations on chains (ERC-8004).',
          accepted:
            'a list of {agent_id, agent_registry}; a registry such as eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e',
        }),
    })
    .prefault({})

/** Chains for balances and escrow settlement, and the identity of this agent. */
export const chainSection = section(
  () => ({
    networks: z
      .record(chainId(), network())
      .default({})
      .meta({
        description:
          'Chain id → the chain: its name, native coin (ETH with 18 decimals unless set), tokens, node timeout ' +
          '(5000 ms), confirmations (2), and an explorer. None is built in.',
        accepted:
          'an object with name, native {symbol, decimals}, tokens [{symbol, address, decimals}], timeout_ms, confirmations, explorer',
      }),
    rpc_urls: z
      .record(chainId(), rpcUrl.meta({ accepted: 'an http or https URL' }))
      .default({})
      .meta({
        description: 'Chain id → the URL of a node of that chain (JSON-RPC), with its key, if any.',
        accepted: 'an object of http or https URLs by chain id',
        secret: 'value',
      }),
    settlement: settlement(),
    agent: agent(),
  }),
  { restart: true },
)
