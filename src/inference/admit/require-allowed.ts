import { GazewayError } from '../../errors.ts'
import type { Identity } from '../../identity/identity.ts'
import { isByLength } from '../../providers/cost.ts'
import { isRefused, originOf, type Prices } from '../../providers/prices.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { isAllowedModel, mayRequest } from './allowed-models.ts'

/**
 * Requires that the key may use a model, as {@link mayRequest} says.
 *
 * @throws GazewayError `model_not_allowed`
 */
export function requireModels({ models }: Identity, choices: readonly ModelChoice[]): void {
  if (models === null) return
  const { requested } = choices[0] as ModelChoice
  if (mayRequest({ models }, requested, choices)) return
  throw new GazewayError(
    'model_not_allowed',
    `This key may not use the model ${JSON.stringify(requested.slice(0, 100))}; it may use: ${models.join(', ')}.`,
    { param: 'model' },
  )
}

/**
 * Requires that the key may use the models that fields of the request name.
 *
 * @throws GazewayError `model_not_allowed`
 */
export function requireNamed(key: Identity, choices: readonly ModelChoice[], named: readonly ModelChoice[]): void {
  const refused = named.find(({ upstream }) => !isAllowedModel(key, choices, upstream))
  if (refused === undefined) return
  throw new GazewayError(
    'model_not_allowed',
    `This key may not use the model ${JSON.stringify(refused.upstream.slice(0, 100))}, which a field of the request names; it may use: ${key.models?.join(', ')}.`,
    { param: 'model' },
  )
}

/**
 * Requires that each model that may answer has a price, where unknown prices are refused. Stand-ins are judged once they
 * are known. The price of recordings alone, by their length, is none of a text.
 *
 * @param of.isHeld true for a caller with budgets or charges
 * @throws GazewayError `model_not_priced`
 */
export function requirePrices(
  prices: Prices,
  choices: readonly ModelChoice[],
  { isHeld, path }: { isHeld: boolean; path: string },
): void {
  const hasNone = (choice: ModelChoice): boolean =>
    isRefused(choice, prices, isHeld) ||
    (isHeld && !isOfSpeech(path) && originOf(choice, prices) === 'catalogue' && isByLength(choice, prices))
  const unpriced = choices.find((choice) => !choice.isOpen && hasNone(choice))
  if (unpriced === undefined) return
  const name = JSON.stringify((unpriced.isStandIn ? unpriced.upstream : unpriced.requested).slice(0, 100))
  throw new GazewayError(
    'model_not_priced',
    `The model ${name} has no known price, so ${isHeld ? 'a key with a budget or a charge may not use it' : 'it is refused'}. The operator can set its price in pricing.models, or pricing.unknown to dearest or flat.`,
    { param: 'model' },
  )
}

const isOfSpeech = (path: string): boolean => path.startsWith('/v1/audio/')
