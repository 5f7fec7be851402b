import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { fromBase64, isSealed } from '../reasoning/seal.ts'
import type { Note } from './reported-changes.ts'

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

/** Signature by which Google's API takes a call that another provider made (https://ai.google.dev/gemini-api/docs/thought-signatures). */
const SKIPPED = 'skip_thought_signature_validator'
/** Signatures with which clients say that they have none. */
const NO_SIGNATURE: ReadonlySet<unknown> = new Set(['', SKIPPED, 'context_engineering_is_the_way_to_go'])

/** Tells whether a part brings a signature back. */
export const isSignature = (given: unknown): given is string => typeof given === 'string' && !NO_SIGNATURE.has(given)

/** A Gemini request without signatures that Gazeway has sealed. Calls get one in their place. */
export function withoutSeals(request: Fields, note: Note): Fields {
  const contents = objectsOrNone(request.contents).map((content, turn) => {
    if (!Array.isArray(content.parts)) return content
    const parts = objectsOrNone(content.parts).map((part, at) => {
      const { thoughtSignature, thought_signature = thoughtSignature, ...others } = part
      if (typeof thought_signature !== 'string' || !isSealed(fromBase64(thought_signature))) return part
      note(`contents.${turn}.parts.${at}.thoughtSignature`, 'dropped')
      const isCall = (part.functionCall ?? part.function_call ?? null) !== null
      return isCall ? { ...others, thoughtSignature: SKIPPED } : others
    })
    return { ...content, parts }
  })
  return { ...request, contents }
}
