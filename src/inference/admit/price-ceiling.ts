import { ceilingOf } from '../../providers/cost.ts'
import { originOf, type Prices } from '../../providers/prices.ts'
import { presetOf } from '../../providers/providers.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import type { PricedParts } from './priced-parts.ts'

/** No prices for a provider to keep to. */
export const NO_CEILING: Readonly<Record<string, unknown>> = {}

/** Upper bounds of the prices at which a provider may answer, beside those of the client. */
export function ceilingFields(
  model: ModelChoice,
  sent: object,
  {
    models,
    promptTokens,
    tiers,
  }: { models: readonly ModelChoice[]; promptTokens: number } & Pick<PricedParts, 'tiers'>,
  prices: Prices,
): Readonly<Record<string, unknown>> {
  const field = presetOf(model.vendor ?? '')?.pricedFields.ceiling
  const from = originOf(model, prices)
  // Flat prices are no prices of the model.
  if (field === undefined || (from !== 'configuration' && from !== 'catalogue' && from !== 'dearest')) return NO_CEILING
  const there = models.filter(({ vendor }) => vendor === model.vendor)
  const ours = ceilingOf({ prompt: promptTokens, tiers }, there, prices)
  const given = fieldsOrNone((sent as Record<string, unknown>)[field])
  const theirs = fieldsOrNone(given.max_price)
  const lower = (name: 'prompt' | 'completion'): number => {
    const price = Number(theirs[name] ?? Number.NaN)
    return price >= 0 && price < ours[name] ? price : ours[name]
  }
  return { [field]: { ...given, max_price: { ...theirs, prompt: lower('prompt'), completion: lower('completion') } } }
}
