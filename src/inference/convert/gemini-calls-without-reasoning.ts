import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { callMessage } from './calls-without-reasoning.ts'
import { exactJson } from './exact-json.ts'
import { isSignature } from './gemini-signatures.ts'
import { chatFunctionName } from './gemini-tools.ts'

/**
 * The first calls of answers that come back without a signature, as messages. Gemini CLI drops the signatures of a session
 * that it resumes, and keeps the ids of its calls.
 */
export function geminiCallsAlone({ contents }: Fields): Fields[] {
  return objectsOrNone(contents).flatMap(({ role, parts: given }) => {
    if (role !== 'model') return []
    const parts = objectsOrNone(given)
    if (parts.some((part) => isSignature(part.thoughtSignature ?? part.thought_signature))) return []
    const call = parts.map((part) => fieldsOrNone(part.functionCall ?? part.function_call)).find(({ id }) => id)
    if (call === undefined) return []
    const called = { name: chatFunctionName(String(call.name)), arguments: exactJson(call.args ?? {}) }
    return [callMessage({ id: call.id, function: called })]
  })
}
