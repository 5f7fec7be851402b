import * as z from 'zod'
import { GazewayError } from '../../src/errors.ts'
import { KeyId, type Keys } from '../../src/identity/keys.ts'
import { checked } from './flag-value.ts'

/** Maximum number of ids listed for an ambiguous name. */
const SHOWN = 5

/** Id or name of a key. A key itself is refused, and the message leaves it out. */
const KeyReference = z
  .string()
  .regex(/^(?!gzw_)[^\p{Cc}]{1,200}$/u)
  .meta({ accepted: 'the id or the name of a key, as `gazeway key list` shows them (not the key itself)' })

/** Checks a reference to a key. @throws GazewayError `validation_failed` */
export const keyReference = (idOrName: string): string => checked('KEY', KeyReference, idOrName)

/**
 * Finds the id of the key that a checked reference names. An id takes precedence over a name.
 *
 * @param options.orRevoked true to find a revoked key of that name where no other has it
 * @throws GazewayError `not_found` for an unknown name, `conflict` for the name of several keys
 */
export async function keyIdOf(
  keys: Pick<Keys, 'named'>,
  reference: string,
  { orRevoked = false }: { orRevoked?: boolean } = {},
): Promise<string> {
  if (KeyId.safeParse(reference).success) return reference
  const unrevoked = await keys.named(reference)
  const ids = unrevoked.length === 0 && orRevoked ? await keys.named(reference, 'revoked') : unrevoked
  const [id] = ids
  if (id === undefined)
    throw new GazewayError('not_found', 'There is no key with this name or id; `gazeway key list` shows all keys.')
  if (ids.length === 1) return id
  const shown = `${ids.slice(0, SHOWN).join(', ')}${ids.length > SHOWN ? ', …' : ''}`
  throw new GazewayError('conflict', `${ids.length} keys have this name. Name one by its id: ${shown}.`)
}
