import { GazewayError } from '../errors.ts'

/** The models that metered calls may ask for, and what each is for. */
export const METERED_MODELS = [
  { id: 'llm-4.20-multi-agent-beta-0309', use: 'Web search, social search, research, spatial reasoning' },
  { id: 'llm-4.20-0309-reasoning', use: 'Complex reasoning without multi-agent tools' },
  { id: 'llm-4-1-fast-reasoning', use: 'Fast reasoning' },
] as const

/** @throws GazewayError `model_not_supported` for any other model */
export function requireMeteredModel(model: string): void {
  if (METERED_MODELS.some(({ id }) => id === model)) return
  const accepted = METERED_MODELS.map(({ id }) => id).join(', ')
  throw new GazewayError('model_not_supported', `model: not one that is metered; accepted: ${accepted}.`, {
    param: 'model',
  })
}
