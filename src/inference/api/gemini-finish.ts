import { knownFinish } from './finish-reason.ts'

/** Finish reasons of Google's API that stand for several in chat completions (https://ai.google.dev/api/generate-content#FinishReason). */
const OWN: ReadonlySet<string> = new Set([
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'],
])
const REASONS: ReadonlyMap<string, string> = new Map([
  ['stop', 'STOP'],
  ['tool_calls', 'STOP'],
  ['function_call', 'STOP'],
  ['length', 'MAX_TOKENS'],
  ['content_filter', 'SAFETY'],
])

/** Finish reason of an answer whose calls nobody may run. Clients know it, and ask again. */
export const MALFORMED_CALL = 'MALFORMED_FUNCTION_CALL'

/**
 * Google's name of a finish reason. `STOP` for an answer whose provider sends none.
 *
 * @example geminiFinish('length') // 'MAX_TOKENS'
 */
export function geminiFinish(finish: string | null): string {
  const own = (finish ?? '').toUpperCase()
  if (OWN.has(own)) return own
  return REASONS.get(knownFinish(finish ?? 'stop')) ?? 'OTHER'
}
