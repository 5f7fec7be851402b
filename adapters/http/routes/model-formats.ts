import { CONTENT_METHODS } from '../../../src/inference/api/gemini-endpoints.ts'
import type { ModelDescription } from '../../../src/inference/inference.ts'
import type { Model } from '../../../src/inference/upstreams/model-list.ts'
import type { ModelPrices } from '../../../src/providers/preset.ts'
import { present } from '../../../src/text/present.ts'

/** A model with what is known of it. */
export interface DescribedModel {
  model: Model
  known: ModelDescription
}

/** Tokens that a price in the configuration is for. */
const PRICED_TOKENS = 1_000_000
/** Decimals of a price for one token: a millionth of a dollar for a million tokens. */
const DECIMALS = 12

/**
 * A model in OpenAI's format, with the fields that OpenRouter adds
 * (https://openrouter.ai/docs/api-reference/list-available-models). What is not known is absent.
 */
export function inOpenAi({ model, known }: DescribedModel): object {
  const { name, context, maxOutput, inputs, outputs, parameters, prices } = known
  const limits = present({ context_length: context, max_completion_tokens: maxOutput })
  const modalities = present({ input_modalities: inputs, output_modalities: outputs })
  return {
    ...model,
    ...present({
      name,
      context_length: context,
      architecture: ifAny(modalities),
      pricing: prices && pricing(prices),
      top_provider: ifAny(limits),
      supported_parameters: parameters,
    }),
  }
}

/** Prices in US dollars for one token, as decimal text, by OpenRouter's names. */
function pricing(prices: ModelPrices): Record<string, string> {
  const { cached_input, cache_write, cache_write_1h, units } = prices
  const rates: Record<string, number | undefined> = {
    prompt: prices.input,
    completion: prices.output,
    input_cache_read: cached_input,
    input_cache_write: cache_write,
    input_cache_write_1h: cache_write_1h,
    audio: prices.audio_input,
    input_audio_cache: prices.cached_audio_input,
    audio_output: prices.audio_output,
    image_token: prices.image_input,
    image_output: prices.image_output,
    web_search: units?.search === undefined ? undefined : units.search * PRICED_TOKENS,
  }
  return Object.fromEntries(
    Object.entries(rates).flatMap(([kind, rate]) =>
      rate === undefined ? [] : [[kind, decimal(rate / PRICED_TOKENS)]],
    ),
  )
}

/** Writes an amount without an exponent and without zeros at its end. */
const decimal = (usd: number): string => usd.toFixed(DECIMALS).replace(/\.?0+$/, '')

const ifAny = <Fields extends object>(fields: Fields): Fields | undefined =>
  Object.keys(fields).length === 0 ? undefined : fields

/** A model in Google's format (https://ai.google.dev/api/models#Model). */
export const inGemini = ({ model, known }: DescribedModel): { name: string } => ({
  name: `models/${model.id}`,
  ...present({
    displayName: known.name ?? model.id,
    inputTokenLimit: known.context,
    outputTokenLimit: known.maxOutput,
    supportedGenerationMethods: CONTENT_METHODS,
  }),
})

/** A model in Anthropic's format (https://platform.claude.com/docs/en/api/models/list). */
export function inAnthropic({ model, known }: DescribedModel): { id: string } {
  return {
    type: 'model',
    id: model.id,
    display_name: known.name ?? model.id,
    // The epoch stands for an unknown date there.
    created_at: new Date(model.created * 1000).toISOString(),
    ...present({ max_input_tokens: known.context, max_tokens: known.maxOutput }),
  } as { id: string }
}
