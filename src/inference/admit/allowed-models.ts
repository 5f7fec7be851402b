import type { Identity } from '../../identity/identity.ts'
import type { PricedModel } from '../../providers/prices.ts'
import { matchesGlob } from '../../text/glob.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import type { BilledAttempt } from './billed-attempt.ts'

/**
 * Tells whether a key may use a model that the requested one's upstream knows by an id: by that id, or named as the
 * requested model is (`NAME/ID`).
 *
 * @param asked models that were requested
 */
export function isAllowedModel(
  { models }: Pick<Identity, 'models'>,
  asked: readonly PricedModel[],
  id: string,
): boolean {
  if (models === null) return true
  const names = [id, ...asked.flatMap((one) => prefixOf(one).map((prefix) => prefix + id))]
  return models.some((glob) => names.some((name) => matchesGlob(glob, name)))
}

/**
 * Tells whether a key may request a model: by the requested name, or by its id at each upstream that may answer. The
 * fallback role's model has its own name and is always allowed.
 */
export function mayRequest(
  { models }: Pick<Identity, 'models'>,
  requested: string,
  choices: readonly ModelChoice[],
): boolean {
  if (models === null) return true
  const isAllowed = (name: string) => models.some((glob) => matchesGlob(glob, name))
  if (isAllowed(requested)) return true
  return choices.length > 0 && choices.every((one) => one.requested !== requested || isAllowed(one.upstream))
}

/** The name of the upstream before the id of a requested model, when it was requested so. */
const prefixOf = ({ requested, upstream }: PricedModel): string[] =>
  requested.endsWith(`/${upstream}`) ? [requested.slice(0, -upstream.length)] : []

/** An answer by a model that the list of its key lacks. */
export interface ForeignAnswer {
  callId: string
  callerId: string
  /** Model that was asked for. */
  requested: string
  /** Model that the answer names. */
  answered: string
}

/** Calls `note` with the answer of an attempt, if a model gave it that the list of its key lacks. */
export function noteForeignAnswer(
  note: (answer: ForeignAnswer) => void,
  key: Pick<Identity, 'id' | 'models'>,
  { callId, model, answeredBy }: BilledAttempt,
): void {
  if (answeredBy !== null && !isAllowedModel(key, [answeredBy.asked], answeredBy.id))
    note({ callId, callerId: key.id, requested: model, answered: answeredBy.id })
}
