import { GazewayError } from '../errors.ts'
import { OWN_MODELS } from '../providers/preset.ts'
import { matchesGlob } from '../text/glob.ts'
import type { AgentModel, CodingAgent, Endpoint } from './coding-agent.ts'

/** Models that a person asks for. */
export interface ModelWishes {
  model?: string | undefined
  smallModel?: string | undefined
  /** Globs of the models that the key may use. Null for all. */
  allowed?: readonly string[] | null | undefined
}

/**
 * Chooses an agent's models: those asked for, otherwise its own where the gateway has some of them, otherwise Gazeway's
 * own names, which every provider answers to.
 *
 * @param listed models of the gateway with what is known of them. Null when it could not be asked.
 * @throws GazewayError `validation_failed` for a model that the key may not use
 */
export function chooseModels(
  { ownModels }: CodingAgent,
  { model, smallModel, allowed }: ModelWishes,
  listed: readonly AgentModel[] | null,
): Pick<Endpoint, 'model' | 'smallModel'> {
  const named = (id: string): AgentModel => listed?.find((one) => one.id === id) ?? { id }
  const mayUse = (id: string) => !allowed || allowed.some((glob) => matchesGlob(glob, id))
  const exact = allowed?.find((glob) => !glob.includes('*'))
  const keepsOwn =
    model === undefined && ownModels !== null && (listed ?? []).some(({ id }) => ownModels.test(id) && mayUse(id))
  if (keepsOwn) return { model: null, smallModel: smallModel === undefined ? null : named(smallModel) }
  const main = model ?? exact ?? OWN_MODELS.reasoning
  const small = smallModel ?? model ?? exact ?? OWN_MODELS.chat
  for (const id of [main, small])
    if (!mayUse(id))
      throw new GazewayError(
        'validation_failed',
        `--models does not allow ${id}. Choose a model that it allows with --model.`,
        {
          param: '--model',
        },
      )
  return { model: named(main), smallModel: named(small) }
}
