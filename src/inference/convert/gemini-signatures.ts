import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { fromBase64 } from '../reasoning/seal.ts'

/** Letters of a signature that tell which key has sealed it. */
const READ_LENGTH = 80

/**
 * The signatures that a Gemini request brings back, as a JSON text in which seals are found. Only their beginnings, since
 * they are long.
 */
export function broughtSignatures({ contents }: Fields): string {
  const signatures = objectsOrNone(contents).flatMap(({ parts }) =>
    objectsOrNone(parts).flatMap((part) => {
      const signature = part.thoughtSignature ?? part.thought_signature
      return typeof signature === 'string' ? [fromBase64(signature.slice(0, READ_LENGTH))] : []
    }),
  )
  return JSON.stringify(signatures)
}
