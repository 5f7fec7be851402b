import { factsToSend, readPending, removePending } from '../../src/coding-sessions/pending-facts.ts'
import type { SessionFacts } from '../../src/coding-sessions/session-facts.ts'
import { isObject, parseJson } from '../../src/text/json.ts'
import { networkFetch } from '../../src/wire/network-fetch.ts'
import type { AgentsGateway } from './agents-gateway.ts'

/** Difference of the clocks that is none: the gateway's date has whole seconds. */
const SAME_MS = 2000

/** Replies to facts that are taken, or that no attempt would have taken. Others stay for the next hook. */
const DONE = new Set([200, 201, 204, 400, 413, 422])

/** Sends the pending facts of a session, oldest first. Those that the gateway does not take now stay. */
export async function sendPending(
  dataDir: string,
  sessionId: string,
  gateway: AgentsGateway,
  signal: AbortSignal,
): Promise<void> {
  const pending = await readPending(dataDir, sessionId)
  if (pending.length === 0) return
  const aheadMs = await clockAhead(gateway, signal)
  if (aheadMs === null) return
  for (const { file, facts } of pending) {
    const reply = await networkFetch(`${gateway.url}/api/coding-sessions/${encodeURIComponent(sessionId)}/facts`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(shifted(factsToSend(facts), aheadMs)),
      signal,
    })
    await reply.body?.cancel()
    if (!DONE.has(reply.status)) return
    await removePending(file)
  }
}

/**
 * Asks whether a Gazeway is there, and how far its clock is ahead of this one, in milliseconds. The request has no key.
 *
 * @returns null for another server
 */
async function clockAhead({ url }: AgentsGateway, signal: AbortSignal): Promise<number | null> {
  const asked = Date.now()
  const reply = await networkFetch(`${url}/api/hello`, { redirect: 'manual', signal })
  const said = parseJson(await reply.text())
  if (reply.status !== 200 || !isObject(said) || said.message !== 'hello') return null
  const date = Date.parse(reply.headers.get('date') ?? '')
  const aheadMs = Number.isNaN(date) ? 0 : date - (asked + Date.now()) / 2
  return Math.abs(aheadMs) < SAME_MS ? 0 : Math.round(aheadMs)
}

/** Facts with their times by the gateway's clock, which its calls have. */
function shifted(facts: SessionFacts, aheadMs: number): SessionFacts {
  const moved = (at: string) => new Date(Date.parse(at) + aheadMs).toISOString()
  return {
    ...facts,
    ...(facts.at !== undefined && { at: moved(facts.at) }),
    ...(facts.commits && { commits: facts.commits.map((commit) => ({ ...commit, at: moved(commit.at) })) }),
  }
}
