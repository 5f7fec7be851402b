import { objectsOrNone } from '../../text/lenient-reader.ts'
import { callFault, callsOfMessage } from '../convert/complete-call.ts'

/** Fault of the calls in a chat completion, see `callFault`. Null without one. */
export function completionFault({ choices }: { choices: unknown }, tools: unknown): string | null {
  const faults = objectsOrNone(choices).map(({ message, finish_reason }) =>
    callFault(callsOfMessage(message), finish_reason, tools),
  )
  return faults.find((fault) => fault !== null) ?? null
}
