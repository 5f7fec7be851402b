import type { SessionCall } from '../session/session-gate.ts'
import type { Bill } from './bill.ts'

/** Prepares a call with its bill. */
export type Prepare<Call extends object> = (bill: Bill) => Call | Promise<Call>

/** Prepares a call with its bill, or ends the bill: a call that is never made may hold nothing. */
export function preparedWith<Call extends object>(bill: Bill, prepare: Prepare<Call>): Call | Promise<Call> {
  function fail(error: unknown): never {
    // Without an attempt, its end waits for nothing.
    void bill.end()
    throw error
  }
  try {
    const call = prepare(bill)
    return call instanceof Promise ? call.catch(fail) : call
  } catch (error) {
    return fail(error)
  }
}

/** Begins a call that is counted in its session, or takes it out of the count again. */
export async function beginCounted<Begun>(
  counting: Promise<SessionCall | null> | null,
  begin: () => Begun | Promise<Begun>,
): Promise<Begun> {
  const counted = await counting
  try {
    return await begin()
  } catch (error) {
    await counted?.undo()
    throw error
  }
}
