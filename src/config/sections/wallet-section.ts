import * as z from 'zod'
import { section } from './section.ts'
import { milliseconds, usd } from './setting-values.ts'

/**
 * Billing of a key's calls:
 * - `recorded`: nothing; the cost is only recorded.
 * - `cost`: the provider's charge.
 * - `metered`: the provider's charge plus the margin.
 */
export const Billing = z.enum(['recorded', 'cost', 'metered'])
export type Billing = z.infer<typeof Billing>

/** Limits of metered calls, and the account that settles on the chain. */
export const walletSection = section(() => ({
  private_key: z
    .string()
    .regex(/^0x(?!0{64})[0-9a-fA-F]{64}$/)
    .nullable()
    .default(null)
    .meta({
      variable: 'GAZEWAY_WALLET_PRIVATE_KEY',
      description:
        'The private key of the account that settles payments on the chain and pays their gas. Only from the environment.',
      accepted: '0x and 64 hexadecimal digits, or null',
      secret: 'value',
      restart: true,
      environmentOnly: true,
    }),
  default_credit_limit_usd: usd.default(10).describe('Default credit limit of keys beyond their deposits, in USD.'),
  billing: z
    .strictObject({
      platform: Billing.default('metered').describe('Default billing of new keys with the scope platform.'),
      other: Billing.default('recorded').describe('Default billing of other new keys. Admin keys are always recorded.'),
    })
    .prefault({}),
  receipts: z
    .enum(['charged', 'all'])
    .default('charged')
    .describe('Calls that get a receipt: charged ones, or all calls of keys, whose cost is on their statements then.'),
  max_output_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(8192)
    .describe(
      'Maximum and default of max_tokens of a metered call, and the limit that other calls of keys with budgets or charges are sent when they set none and that of their model is unknown.',
    ),
  max_prompt_bytes: z
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024)
    .describe('Maximum prompt of a metered call, in bytes of UTF-8.'),
  search_tokens: z
    .int()
    .min(0)
    .max(10_000_000)
    .default(32_768)
    .describe('Tokens of search results that are reserved for a metered call with search tools.'),
  wait_ms: z
    .int()
    .min(0)
    .max(600_000)
    .default(60_000)
    .describe('How long a call waits for what calls in flight have reserved, in milliseconds, before it is refused.'),
  read_on_ms: milliseconds
    .default(2000)
    .describe(
      'How long the answer of a key with a budget or a charge is read on, for its usage, once its client has left and closing the connection stops what the provider charges.',
    ),
  absorbed_usd_per_day: usd
    .default(1)
    .describe(
      'Most, in USD, that the operator bears for a charged key on a UTC day because models ignore the limit of their answers, or the key leaves answers early. Beyond it such models, and all models to a key that left answers worth as much, are refused.',
    ),
  call_timeout_ms: milliseconds
    .default(600_000)
    .describe('Timeout of a metered call, including retries and fallbacks.'),
}))
