import type { Store } from '../store/store.ts'
import type { CallRecord } from './call-record.ts'
import type { CallStatus } from './call-status.ts'
import { callsOfSession, meetingAny } from './named-session.ts'
import { CALL_COLUMNS, findCall, toRecord } from './stored-call.ts'

/** Longest time from the first attempt to the last, in milliseconds: twice what a call may take. */
const LONGEST_MS = 600_000
/** Most attempts that are read. A request has far fewer. */
const MOST = 100

/** Statuses of calls that were not sent, or that another overtook. */
const UNSENT = ['refused', 'hedged'] satisfies CallStatus[]

/** Position of a call in its request and in its session. */
export interface CallContextOf {
  /** All attempts of its request, the first at the beginning, without content. */
  attempts: CallRecord[]
  /** Id of the last call of its session that was sent before the request; null without one. */
  before: string | null
}

/** Reads the attempts of a call's request, and the call before it in its session, from what the trail still has. */
export async function contextOfCall(store: Store, call: CallRecord): Promise<CallContextOf> {
  const own = withoutContent(call)
  const first = call.fallback_from === null ? null : await findCall(store, call.fallback_from)
  const root = first === null ? own : withoutContent(first)
  const end = new Date(Date.parse(root.at) + LONGEST_MS).toISOString()
  const [later, before] = await Promise.all([
    store.db
      .selectFrom('calls')
      .select(CALL_COLUMNS)
      .where('fallback_from', '=', root.call_id)
      .where('at', '>=', root.at)
      .where('at', '<=', end)
      .orderBy('at')
      .orderBy('call_id')
      .limit(MOST)
      .execute(),
    callBefore(store, root),
  ])
  const others = later.map((row) => toRecord({ ...row, content: null }))
  const attempts = [root, ...others]
  const isKnown = attempts.some(({ call_id }) => call_id === call.call_id)
  return { attempts: isKnown ? attempts : [...attempts, own], before }
}

const withoutContent = ({ content: _, ...call }: CallRecord): CallRecord => call

async function callBefore({ db }: Store, { session_id, caller_id, at }: CallRecord): Promise<string | null> {
  if (session_id === null) return null
  const calls = db.selectFrom('calls').select(['call_id', 'at']).where('at', '<', at).where('status', 'not in', UNSENT)
  const newest = (await callsOfSession(db, session_id, caller_id)).map((named) =>
    calls
      .where(meetingAny([named]))
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst(),
  )
  const [last] = (await Promise.all(newest)).flatMap((call) => call ?? []).sort((a, b) => (a.at > b.at ? -1 : 1))
  return last?.call_id ?? null
}
