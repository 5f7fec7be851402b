import * as z from 'zod'
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
export const Wallet = z.strictObject({
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
  default_credit_limit_usd: usd
    .default(10)
    .describe('How far a key without a credit limit of its own may spend beyond its deposits, in USD.'),
  billing: z
    .strictObject({
      platform: Billing.default('metered').describe(
        'The billing of a new key with the scope platform that names none.',
      ),
      other: Billing.default('recorded').describe(
        'The billing of any other new key that names none. Keys of admins are always recorded.',
      ),
    })
    .prefault({}),
  max_output_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(8192)
    .describe('The most tokens that a metered call may generate; also what one that names no max_tokens gets.'),
  max_prompt_bytes: z
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024)
    .describe('The largest prompt of a metered call, in bytes of UTF-8.'),
  search_tokens: z
    .int()
    .min(0)
    .max(10_000_000)
    .default(32_768)
    .describe('Tokens of search results that are reserved for a metered call with search tools.'),
  call_timeout_ms: milliseconds
    .default(600_000)
    .describe('How long a metered call may take in all, upstream retries and fallback included.'),
})
