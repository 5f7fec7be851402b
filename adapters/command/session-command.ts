import * as z from 'zod'
import type { CodingSession } from '../../src/coding-sessions/coding-session.ts'
import { CodingSessionQuery, listSessions } from '../../src/coding-sessions/list-sessions.ts'
import { readSession } from '../../src/coding-sessions/read-session.ts'
import {
  type NamedSession,
  Resumption,
  resumeSession,
  type SessionState,
  stopSession,
} from '../../src/coding-sessions/session-states.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { detailed } from './detailed-table.ts'
import { checked } from './flag-value.ts'
import { amountIn, countIn } from './key-flags.ts'
import { keyIdOf, keyReference } from './key-reference.ts'
import { type KeyTools, printList, withStoredKeys } from './with-keys.ts'

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

/** Flags of `gazeway session list`. */
export interface ListFlags {
  limit: string
  sort: string
  json?: boolean
}

/** Prints the newest or dearest sessions, as a table or as JSON. @throws GazewayError `validation_failed` */
export async function listNewest(loaded: LoadedConfig, log: Log, { limit, sort, json }: ListFlags): Promise<void> {
  const query = {
    limit: countIn('--limit', z.int().min(1).max(1_000).meta({ accepted: 'a whole number from 1 to 1000' }), limit),
    sort: checked('--sort', CodingSessionQuery.shape.sort.unwrap(), sort),
  }
  const { items } = await withStoredKeys(loaded, log, ({ store }) => listSessions(store, query))
  if (json) printList(items)
  else if (items.length === 0) process.stderr.write('No sessions yet. A call of a coding agent begins one.\n')
  else process.stdout.write(sessionTable(items))
}

const sessionTable = (sessions: readonly CodingSession[]): string =>
  detailed(
    ['ID', 'LAST', 'CALLS', 'COST USD', 'STATE'],
    sessions.map(({ id, key, client, repository, branch, calls, cost_usd, last_at, state }) => ({
      cells: [id, `${last_at.slice(0, 16)}Z`, String(calls), String(cost_usd), state],
      details: { key, client: [client.name, client.version].filter(Boolean).join(' '), repository, branch },
    })),
  )

/** Prints a session as JSON. @throws GazewayError `not_found`, or `conflict` when several keys have one of the id */
export async function showOne(loaded: LoadedConfig, log: Log, id: string, flags: SessionFlags): Promise<void> {
  const found = await withStoredKeys(loaded, log, async (tools) =>
    readSession(tools.store, id, (await named(tools, id, flags)).callerId),
  )
  if (found === null)
    throw new GazewayError('not_found', 'There is no such session; `gazeway session list` shows them.')
  if (found === 'ambiguous')
    throw new GazewayError('conflict', 'Several keys have a session of this id. Name one with --key.')
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
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
