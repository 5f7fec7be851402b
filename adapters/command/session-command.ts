import {
  type NamedSession,
  Resumption,
  resumeSession,
  type SessionState,
  stopSession,
} from '../../src/coding-sessions/session-states.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { amountIn, countIn } from './key-flags.ts'
import { keyIdOf, keyReference } from './key-reference.ts'
import { type KeyTools, withStoredKeys } from './with-keys.ts'

/** Flags that name a session beside its id. */
export interface SessionFlags {
  /** Id or name of its key. */
  key?: string
}

/** Flags of `gazeway session resume`, as commander names them. */
export interface ResumeFlags extends SessionFlags {
  raise?: string
  calls?: string
  minutes?: string
}

/** Stops a session. @throws GazewayError `not_found`, or `conflict` when several keys have one of the id */
export async function stopOne(loaded: LoadedConfig, log: Log, id: string, flags: SessionFlags): Promise<void> {
  const { key } = await withStoredKeys(loaded, log, async (tools) =>
    stopSession(tools.store, await named(tools, id, flags), { by: null, at: tools.now() }),
  )
  process.stderr.write(`Stopped the session ${id} of ${key}. Running servers end its calls within 5 seconds.\n`)
}

/** Lets a session go on. @throws GazewayError `validation_failed` with the flag in `param`, and as {@link stopOne} */
export async function resumeOne(loaded: LoadedConfig, log: Log, id: string, flags: ResumeFlags): Promise<void> {
  const raise = raiseIn(flags)
  const { key, raised } = await withStoredKeys(loaded, log, async (tools) =>
    resumeSession(tools.store, await named(tools, id, flags), { raise, at: tools.now() }),
  )
  process.stderr.write(
    `The session ${id} of ${key} goes on${raisedBy(raised)}. Running servers apply it within 5 seconds.\n`,
  )
}

function raiseIn({ raise, calls, minutes }: ResumeFlags): Resumption {
  const { raise_usd, raise_calls, raise_minutes } = Resumption.shape
  return {
    ...(raise !== undefined && { raise_usd: amountIn('--raise', raise_usd.unwrap(), raise) }),
    ...(calls !== undefined && { raise_calls: countIn('--calls', raise_calls.unwrap(), calls) }),
    ...(minutes !== undefined && { raise_minutes: countIn('--minutes', raise_minutes.unwrap(), minutes) }),
  }
}

const named = async ({ keys }: KeyTools, sessionId: string, { key }: SessionFlags): Promise<NamedSession> => ({
  sessionId,
  callerId: key === undefined ? undefined : await keyIdOf(keys, keyReference(key)),
})

/** `, raised by 2 USD and 10 calls in all` */
function raisedBy({ usd, calls, minutes }: SessionState['raised']): string {
  const parts = [usd && `${usd} USD`, calls && `${calls} calls`, minutes && `${minutes} minutes`].filter(Boolean)
  return parts.length === 0 ? '' : `, raised by ${parts.join(' and ')} in all`
}
