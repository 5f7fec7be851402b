import { GazewayError } from '../errors.ts'
import { type Micros, toUsd } from '../text/money.ts'
import type { Bill } from './bill.ts'
import { countLong } from './estimate.ts'
import { LAST_EVENTS, MESSAGE_STOP } from './finish-reason.ts'
import { nextNumber } from './relay/next-number.ts'
import type { Receiver } from './relay/receiver.ts'
import type { SseTap } from './relay/sse-tap.ts'

/** How much of an answer is set aside at a time once it has outgrown its reservation, in tokens. */
const STEP_TOKENS = 2048
/** Another tokenizer than ours may count more. */
const TOKENIZER_FACTOR = 1.25
/** What ends the stream of a chat completion, of a response, and of a message. */
const ENDINGS = ['[DONE]', ...(LAST_EVENTS as readonly string[]), `"${MESSAGE_STOP}"`]

/** The receiver of a call that is billed. */
export interface BilledReceiver extends Receiver {
  /**
   * Lets the end of the reply go to its client.
   *
   * @param charged what the call was charged; null where nothing was
   */
  finish(callId: string, charged: Micros | null): void
  /** The number that the next event of a Response has. */
  nextNumber(): number
  /** Ends a stream that has begun with an error. @returns whether one has: anything else is still to be answered */
  fail(error: GazewayError): boolean
}

/**
 * Holds a reply to its bill. An answer that is charged is not complete before that is durable: of a whole reply everything
 * waits, of a stream its last event. A stream that outgrows what is set aside for it is held up until there is more, and
 * cut off where there is none.
 *
 * @param errorEvent an error as an event of the stream, and the number that it has there
 */
export function billedReceiver(
  receiver: Receiver,
  bill: Bill,
  {
    errorEvent,
    countTokens,
  }: {
    errorEvent: (error: GazewayError, sequenceNumber: number) => Buffer | string
    countTokens(text: string): Promise<number>
  },
): BilledReceiver {
  const { isCharged, isBounded } = bill
  let tap: SseTap | undefined
  let whole: Parameters<Receiver['whole']> | undefined
  let begun = false
  let ending: (Buffer | string)[] = []
  let isEnded = false
  let cut: GazewayError | null = null
  const goneListeners: Array<() => void> = []
  /** Bytes that have gone by, and at how many the text is looked at again. */
  let passed = 0
  let nextLook = bill.answerTokens()
  let resume: (() => void) | undefined
  let looking = false
  /** The last events with a number. */
  let numbered: Buffer | null = null

  const headersOf = (headers: Record<string, string>) => ({ ...headers, ...bill.headers })

  /** Whether the text so far may have outgrown what is set aside; where it has, more is. */
  async function look(): Promise<void> {
    const { text, factor } = (tap as SseTap).said()
    const most = Math.ceil(Buffer.byteLength(text) * factor)
    const reserved = bill.answerTokens()
    if (most <= reserved) {
      nextLook = passed + Math.max(1, reserved - most)
      return
    }
    if (await bill.extend(most - reserved + STEP_TOKENS)) {
      nextLook = passed + STEP_TOKENS
      return
    }
    const counted = Math.ceil((await countLong(countTokens, text)) * factor * TOKENIZER_FACTOR)
    const needed = counted - bill.answerTokens()
    nextLook = passed + Math.max(64, -needed)
    if (needed > 0 && !(await bill.extend(needed))) {
      bill.cutOff()
      cutOff(overBudget())
    }
  }

  /** Ends the stream with an error; the upstream is not asked for more. */
  function cutOff(error: GazewayError): void {
    cut = error
    for (const listener of goneListeners) listener()
  }

  function lookAgain(): void {
    looking = true
    look()
      // Such as a store that does not answer: the client is told so, and pays for what it has.
      .catch((error: unknown) => cutOff(asGazewayError(error)))
      .finally(() => {
        looking = false
        const go = resume
        resume = undefined
        go?.()
      })
  }

  function write(bytes: Buffer | string): boolean {
    if (cut !== null) return true
    begun = true
    if (bytes.includes('"sequence_number"')) numbered = Buffer.from(bytes as Buffer)
    if (isCharged && (ending.length > 0 || ENDINGS.some((mark) => bytes.includes(mark)))) {
      ending.push(bytes)
      return true
    }
    const goesOn = receiver.write(bytes)
    passed += bytes.length
    if (isBounded && tap !== undefined && !looking && passed > nextLook) lookAgain()
    return goesOn && !looking
  }

  return {
    ...receiver,
    isGone: () => cut !== null || receiver.isGone(),
    onGone(listener) {
      goneListeners.push(listener)
      receiver.onGone(listener)
    },
    reason: () => cut ?? receiver.reason?.(),
    watch(told) {
      tap = told
    },
    whole(status, headers, bytes) {
      if (isCharged && status < 400) whole = [status, headersOf(headers), bytes]
      else receiver.whole(status, headersOf(headers), bytes)
    },
    ...(receiver.hold && { hold: (status, headers) => receiver.hold?.(status, headersOf(headers)) }),
    head(status, headers) {
      begun = true
      receiver.head(status, headersOf(headers))
    },
    write,
    onDrain(listener) {
      if (looking) resume = () => (receiver.isGone() ? undefined : listener())
      else receiver.onDrain(listener)
    },
    drop() {
      if (cut === null) receiver.drop()
      else if (!isCharged) receiver.end(errorEvent(cut, nextNumber(numbered)))
    },
    end(bytes) {
      if (!isCharged) return receiver.end(bytes)
      if (bytes !== undefined) ending.push(bytes)
      isEnded = true
    },
    finish(callId, charged) {
      if (whole) {
        const [status, headers, bytes] = whole
        receiver.whole(status, charged === null ? headers : { ...headers, ...costHeader(charged) }, bytes)
      } else if (cut !== null || (begun && (isEnded || ending.length > 0))) {
        if (!isCharged) return
        for (const bytes of cut === null ? ending : [errorEvent(cut, nextNumber(numbered))]) receiver.write(bytes)
        receiver.end(
          charged === null ? undefined : `: x-gazeway-call-id=${callId} x-gazeway-cost-usd=${toUsd(charged)}\n\n`,
        )
      }
    },
    nextNumber: () => nextNumber(numbered),
    fail(error) {
      if (!begun) return false
      ending = []
      isEnded = false
      if (!receiver.isGone()) receiver.end(errorEvent(error, nextNumber(numbered)))
      return true
    },
  }
}

const overBudget = (): GazewayError =>
  new GazewayError(
    'budget_reached',
    'The answer was cut off: the budget or the credit of this key has no more left for it.',
  )

const asGazewayError = (error: unknown): GazewayError =>
  error instanceof GazewayError
    ? error
    : new GazewayError('internal_error', 'Gazeway itself failed. Its log says more under this request id.', {
        cause: error,
      })

const costHeader = (charged: Micros) => ({ 'x-gazeway-cost-usd': String(toUsd(charged)) })
