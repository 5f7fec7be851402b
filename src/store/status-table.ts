import { GazewayError } from '../errors.ts'

/** A transition between two statuses: a row of a table that code, documentation and tests share. */
export interface Transition<Status extends string, Event extends string> {
  event: Event
  /** Null for the event that creates the object. */
  from: Status | null
  to: Status
  /** Conditions and side effects, in words. */
  when: string
}

/** Statuses in which `event` is allowed. */
export function statusesBefore<Status extends string, Event extends string>(
  table: ReadonlyArray<Transition<Status, Event>>,
  event: NoInfer<Event>,
): Status[] {
  return table.flatMap((line) => (line.event === event && line.from !== null ? [line.from] : []))
}

/** Status after `event`. Null when it is not allowed in `from`. */
export function statusAfter<Status extends string, Event extends string>(
  table: ReadonlyArray<Transition<Status, Event>>,
  event: NoInfer<Event>,
  from: NoInfer<Status> | null,
): Status | null {
  return table.find((line) => line.event === event && line.from === from)?.to ?? null
}

/**
 * Error for an event that is not allowed in the current status.
 *
 * @param of.named the object: `Task task_0199…`
 * @param of.status current status, which the message names
 * @param of.accepted statuses in which it is allowed
 * @param of.advice further advice, a sentence
 */
export function invalidTransition(of: {
  named: string
  status: string
  verb: string
  accepted: readonly string[]
  advice?: string
}): GazewayError {
  const { named, status, verb, accepted, advice } = of
  const message = `${named} is ${status}; it must be ${accepted.join(' or ')} to be ${verb}.`
  return new GazewayError('invalid_transition', advice ? `${message} ${advice}` : message)
}
