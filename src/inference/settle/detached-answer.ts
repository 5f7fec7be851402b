import { setTimeout as delay } from 'node:timers/promises'
import { parseJson } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { createInFlight } from '../../wire/in-flight.ts'
import type { Bill } from '../admit/bill.ts'
import { type Observed, observedError } from '../observe/observe.ts'
import type { Relay } from '../relay/relay.ts'
import type { Client } from '../relay/send.ts'

/** Most answers that a process asks for at a time. */
const MOST = 1000
/** Time for which an answer is asked for, in milliseconds. */
const LONGEST_MS = 7_200_000
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 30_000]
/** Failures in a row after which it is given up. */
const MOST_FAILURES = 10

const UNFINISHED: ReadonlySet<unknown> = new Set(['queued', 'in_progress'])

/** Nobody waits for these replies, and nobody leaves. */
const NOBODY: Client = { isGone: () => false, onGone() {} }

/** An answer that its upstream goes on with after the reply, as those in the background. */
export interface DetachedAnswer extends Pick<Bill, 'keepOpen'> {
  relay: Relay
  /** Id of the answer at the upstream. */
  id: string
  callerId: string | null
  /** Settles it with its usage. */
  settle(observed: Observed): unknown
}

/** Answers in the background that this process asks for until they are complete: what they cost is known only then. */
export interface DetachedAnswers {
  /** Follows one, unless there are as many as a process follows. */
  follow(answer: DetachedAnswer): void
  /** Ends the following: those that are not complete cost what was reserved. */
  ended(): Promise<unknown>
}

/** Creates those of this process. */
export function createDetachedAnswers(): DetachedAnswers {
  const followed = createInFlight<{ stop(): void; over: Promise<unknown> }>()
  return {
    follow(answer) {
      if (followed.all().length >= MOST) return
      const stopping = new AbortController()
      const over = answer.keepOpen(askUntilComplete(answer, stopping.signal))
      void over.finally(followed.add({ stop: () => stopping.abort(), over }))
    },
    ended() {
      const all = followed.all()
      for (const { stop } of all) stop()
      return Promise.allSettled(all.map(({ over }) => over))
    },
  }
}

async function askUntilComplete(answer: DetachedAnswer, stopping: AbortSignal): Promise<void> {
  const until = performance.now() + LONGEST_MS
  let failures = 0
  for (let pause = FIRST_PAUSE_MS; performance.now() < until; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    await delay(pause, undefined, { signal: stopping, ref: false }).catch(() => {})
    if (stopping.aborted) return
    const state = await ask(answer)
    if (state === 'over') return
    failures = state === 'failed' ? failures + 1 : 0
    if (failures === MOST_FAILURES) return
  }
}

/** Asks once, and settles the answer if it is complete. */
async function ask({ relay, id, callerId, settle }: DetachedAnswer): Promise<'unfinished' | 'failed' | 'over'> {
  const terms = { method: 'GET', body: null, stream: false, callerId } as const
  const reply = await relay.open(`/responses/${encodeURIComponent(id)}`, terms, NOBODY).catch(() => null)
  if (reply?.kind !== 'whole' || reply.status >= 500 || reply.status === 429) return 'failed'
  if (reply.status >= 300) return 'over'
  const response = fieldsOrNone(parseJson(reply.body.toString('utf8')))
  if (UNFINISHED.has(response.status)) return 'unfinished'
  const observed = observedError(response)
  if (observed.usage !== null) await settle({ ...observed, answer: response })
  return 'over'
}
