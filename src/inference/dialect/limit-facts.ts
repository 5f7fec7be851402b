import type { Refusal } from './mend.ts'

/** Beginning of the names of facts, before the limit. */
const PREFIX = 'lower_limit:'
/** Wordings about one prompt, one minute or the credit of the moment: they tell nothing of the model. */
const OF_THE_MOMENT = /context|prompt|input|messages|minute|afford|credit/i

/** Tells whether a refused limit is more than the model ever gives, so that later calls need not try it. */
export const isOfModel = ({ status, message }: Refusal): boolean => status === 400 && !OF_THE_MOMENT.test(message)

/** Name of the fact that a model takes no higher limit. */
export const limitFact = (limit: number): string => `${PREFIX}${limit}`

/**
 * Tells whether a fact is about a limit. It holds for the key that met it alone, however many have: a refusal may quote
 * whatever its client wrote.
 */
export const isLimitFact = (name: string): boolean => name.startsWith(PREFIX)

/** Lowers a limit to what facts say that the model takes. */
export const knownLimit = (limit: number, facts: readonly string[]): number =>
  Math.min(limit, ...facts.filter(isLimitFact).map((name) => Number(name.slice(PREFIX.length))))
