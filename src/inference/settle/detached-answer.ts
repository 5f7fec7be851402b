import { setTimeout as delay } from 'node:timers/promises'
import { GazewayError } from '../../errors.ts'
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
/** Statuses of an answer that is not there. */
const GONE: ReadonlySet<number> = new Set([404, 410])
/** Such replies in a row after which an answer is given up that was there before. A provider may be disturbed once. */
const MOST_GONE = 2
/** Time for a provider to store an answer after its reply, in milliseconds. One that never was there is given up after it. */
const STORING_MS = 30_000

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
  /**
   * Asks for an answer before it is deleted, and settles it if it is complete. Does nothing with one that is not
   * followed.
   *
   * @throws GazewayError `conflict` while its cost is not known
   */
  settleBeforeDeletion(id: string): Promise<void>
  /** Ends the following: those that are not complete cost what was reserved. */
  ended(): Promise<unknown>
}

/** State of an answer. One that is not there is `gone` where it was there before, else `unseen`. */
type State = 'unfinished' | 'failed' | 'gone' | 'unseen' | 'over'

/** An answer that is followed. */
interface Followed {
  id: string
  /** Asks once, also where several ask at a time. */
  ask(): Promise<State>
  stop(): void
  over: Promise<unknown>
}

/** Creates those of this process. */
export function createDetachedAnswers(): DetachedAnswers {
  const followed = createInFlight<Followed>()
  return {
    follow(answer) {
      if (followed.all().length >= MOST) return
      const stopping = new AbortController()
      const ask = asking(answer)
      const over = answer.keepOpen(askUntilComplete(ask, stopping.signal))
      void over.finally(followed.add({ id: answer.id, ask, stop: () => stopping.abort(), over }))
    },
    async settleBeforeDeletion(id) {
      for (const { ask, stop } of followed.all().filter((one) => one.id === id)) {
        if ((await ask()) !== 'over') throw unfinished(id)
        stop()
      }
    },
    ended() {
      const all = followed.all()
      for (const { stop } of all) stop()
      return Promise.allSettled(all.map(({ over }) => over))
    },
  }
}

const unfinished = (id: string) =>
  new GazewayError(
    'conflict',
    `${id}: the response is not complete, and its cost is counted once it is. Delete it afterwards, or cancel it first.`,
  )

async function askUntilComplete(ask: () => Promise<State>, stopping: AbortSignal): Promise<void> {
  const begun = performance.now()
  const until = begun + LONGEST_MS
  let failures = 0
  let gone = 0
  for (let pause = FIRST_PAUSE_MS; performance.now() < until; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    await delay(pause, undefined, { signal: stopping, ref: false }).catch(() => {})
    if (stopping.aborted) return
    const state = await ask()
    if (state === 'over') return
    failures = state === 'failed' ? failures + 1 : 0
    gone = state === 'gone' ? gone + 1 : 0
    if (failures === MOST_FAILURES || gone === MOST_GONE) return
    if (state === 'unseen' && performance.now() - begun > STORING_MS) return
  }
}

/** Creates the function that asks for an answer, and settles it once, when it is complete. */
function asking({ relay, id, callerId, settle }: DetachedAnswer): () => Promise<State> {
  /** A request under way, or the last one. */
  let latest: Promise<State> | null = null
  let isSeen = false

  async function ask(): Promise<State> {
    const terms = { method: 'GET', body: null, stream: false, callerId } as const
    const reply = await relay.open(`/responses/${encodeURIComponent(id)}`, terms, NOBODY).catch(() => null)
    if (reply?.kind !== 'whole') return 'failed'
    if (GONE.has(reply.status)) return isSeen ? 'gone' : 'unseen'
    if (reply.status >= 300) return 'failed'
    isSeen = true
    const response = fieldsOrNone(parseJson(reply.body.toString('utf8')))
    if (UNFINISHED.has(response.status)) return 'unfinished'
    const observed = observedError(response)
    if (observed.usage !== null) await settle({ ...observed, answer: response })
    return 'over'
  }

  return () => {
    latest ??= ask().then((state) => {
      if (state !== 'over') latest = null
      return state
    })
    return latest
  }
}
