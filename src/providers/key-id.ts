import { createHash } from 'node:crypto'
import type { Preset } from './preset.ts'

/** Id of an OpenRouter key, as its `/keys` and `/activity` name it: the key's SHA-256. */
export const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/**
 * The provider's id of a key, by which its bill names the key. It is no secret.
 *
 * @param configured id in the configuration
 * @returns null where none is configured and it does not follow from the key
 */
export function keyIdOf(
  preset: Preset | undefined,
  key: string | null,
  configured: string | null | undefined,
): string | null {
  if (configured) return configured
  return key !== null && preset?.hashesKeys ? hashOf(key) : null
}
