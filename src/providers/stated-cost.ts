import { fieldsOrNone } from '../text/lenient-reader.ts'
import { MICROS_PER_USD, type Micros } from '../text/money.ts'

/** xAI's unit of money: 10^10 of them are one US dollar (https://docs.x.ai/developers/cost-tracking). */
const TICKS_PER_MICRO = 10_000
/** Largest plausible cost of one call, in US dollars. */
const MAX_USD = 100_000

/**
 * Reads the cost of a call that its provider states in the usage, rounded up to micro-dollars. Null without one.
 *
 * - xAI: `cost_in_usd_ticks`
 * - OpenRouter: `cost`, and with a key of one's own at the provider behind it also `upstream_inference_cost`, which that
 *   provider bills (https://openrouter.ai/docs/use-cases/usage-accounting)
 *
 * @example statedCost({ cost_in_usd_ticks: 12_345 }) // 2
 */
export function statedCost(usage: unknown): Micros | null {
  const { cost_in_usd_ticks: ticks, cost, is_byok, cost_details } = fieldsOrNone(usage)
  if (isAmount(ticks)) return plausible(ticks / TICKS_PER_MICRO)
  if (!isAmount(cost)) return null
  const { upstream_inference_cost: behind } = fieldsOrNone(cost_details)
  return plausible((cost + (is_byok === true && isAmount(behind) ? behind : 0)) * MICROS_PER_USD)
}

/** Rounds up, without the noise of binary fractions: 0.0000011 USD are 1.1 micro-dollars and a little. */
function plausible(micros: number): Micros | null {
  return micros <= MAX_USD * MICROS_PER_USD ? Math.ceil(Number(micros.toPrecision(15))) : null
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
