import { GazewayError } from '../errors.ts'

/** One way from a status to another: a line of a table that code, documentation and tests read. */
export interface Transition<Status extends string, Event extends string> {
  event: Event
  /** Null where the thing does not exist before. */
  from: Status | null
  to: Status
  /** What must hold, and what else happens, in words. */
  when: string
}

/** The statuses in which `event` can happen. */
export function statusesBefore<Status extends string, Event extends string>(
  table: ReadonlyArray<Transition<Status, Event>>,
  event: NoInfer<Event>,
): Status[] {
  return table.flatMap((line) => (line.event === event && line.from !== null ? [line.from] : []))
}

/** The status that `event` leads to from `from`; null where it cannot happen there. */
export function statusAfter<Status extends string, Event extends string>(
  table: ReadonlyArray<Transition<Status, Event>>,
  event: NoInfer<Event>,
  from: NoInfer<Status> | null,
): Status | null {
  return table.find((line) => line.event === event && line.from === from)?.to ?? null
}

/**
 * The refusal of what cannot happen now.
 *
 * @param of.named what it was tried on: `Task task_0199…`
 * @param of.status the present one, which the message names
 * @param of.accepted the statuses in which it can happen
 * @param of.advice what else to know, a sentence
 */
export function invalidTransition(of: {
  named: string
  status: string
  verb: string
  accepted: readonly string[]
  advice?: string
}): GazewayError {
  const { named, status, verb, accepted, advice } = of
  const message = `${named} is ${status}; only one that is ${accepted.join(' or ')} can be ${verb}.`
  return new GazewayError('invalid_transition', advice ? `${message} ${advice}` : message)
}
