import { GazewayError } from '../../errors.ts'
import { OWN_MODELS } from '../../providers/preset.ts'

/** Models of metered calls and their uses. */
export const METERED_MODELS = [
  { id: OWN_MODELS.research, use: 'Web search, social search, research, spatial reasoning' },
  { id: OWN_MODELS.reasoning, use: 'Complex reasoning without multi-agent tools' },
  { id: OWN_MODELS.fast_reasoning, use: 'Fast reasoning' },
]

/**
 * Admits the models of metered calls.
 *
 * @throws GazewayError `model_not_supported` for any other model
 */
export function requireMeteredModel(model: string): void {
  if (METERED_MODELS.some(({ id }) => id === model)) return
  const accepted = METERED_MODELS.map(({ id }) => id).join(', ')
  throw new GazewayError('model_not_supported', `model: not a metered model; must be one of ${accepted}.`, {
    param: 'model',
  })
}
