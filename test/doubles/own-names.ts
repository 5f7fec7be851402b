import { OWN_MODELS } from '../../src/providers/preset.ts'

/**
 * A configuration for an upstream that has Gazeway's own model names, unless it says which it has. Without them the upstream
 * is asked for its list of models first. Models without a price have the flat one, unless it says what they cost: so
 * that keys with budgets may use invented models, and calls to the sandbox cost something.
 *
 * @param upstream a base URL, or the name of a provider, which has its own
 */
export function withOwnNames(
  upstream: string | null,
  document: { upstream?: object; pricing?: object } & Record<string, unknown>,
): Record<string, unknown> {
  const priced = { ...document, pricing: { unknown: 'flat', ...document.pricing } }
  if (upstream === 'sandbox') return { ...priced, upstream: { unknown_price: 'flat', ...document.upstream } }
  if (!upstream?.startsWith('http')) return priced
  const aliases = Object.fromEntries(Object.values(OWN_MODELS).map((id) => [id, id]))
  return { ...priced, upstream: { aliases, ...document.upstream } }
}
