import { GazewayError } from '../errors.ts'
import { type Micros, toUsd } from '../text/money.ts'
import type { Bill } from './bill.ts'
import { countLong } from './estimate.ts'
import { LAST_EVENTS, MESSAGE_STOP } from './finish-reason.ts'
import { nextNumber } from './relay/next-number.ts'
import type { Receiver } from './relay/receiver.ts'
import type { SseTap } from './relay/sse-tap.ts'

/** Tokens reserved at a time once an answer outgrows its reservation. */
const STEP_TOKENS = 2048
/** Allowance for a provider's tokenizer that counts more than ours. */
const TOKENIZER_FACTOR = 1.25
/** Ends of the streams of a chat completion, a response and a message. */
const ENDINGS = ['[DONE]', ...(LAST_EVENTS as readonly string[]), `"${MESSAGE_STOP}"`]

/** Receiver of a billed call. */
export interface BilledReceiver extends Receiver {
  /**
   * Sends the end of the reply to the client.
   *
   * @param charged amount charged; null when nothing was
   */
  finish(callId: string, charged: Micros | null): void
  /** Sequence number of the next event of a Response. */
  nextNumber(): number
  /**
   * Ends a stream that has begun with an error.
   *
   * @returns false when no stream has begun; the error is then still to be sent
   */
  fail(error: GazewayError): boolean
}

/**
 * Binds a reply to its bill. A charged answer is complete only once the charge is durable: a whole reply is held back,
 * a stream only its last event. A stream that outgrows its reservation waits for more money and is cut off when there
 * is none.
 *
 * @param errorEvent builds an error event for the stream, with its sequence number
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
  /** Bytes passed on, and the count at which the text is checked next. */
  let passed = 0
  let nextLook = bill.answerTokens()
  let resume: (() => void) | undefined
  let looking = false
  /** The last numbered events. */
  let numbered: Buffer | null = null

  /** Checks whether the text may have outgrown the reservation, and extends it. */
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

  /** Ends the stream with an error and aborts the upstream's reply. */
  function cutOff(error: GazewayError): void {
    cut = error
    for (const listener of goneListeners) listener()
  }

  function lookAgain(): void {
    looking = true
    look()
      // For example, a store that does not respond: the client gets the error and pays for what it has received.
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
      if (isCharged && status < 400) whole = [status, headers, bytes]
      else receiver.whole(status, headers, bytes)
    },
    head(status, headers) {
      begun = true
      receiver.head(status, headers)
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
  new GazewayError('budget_reached', 'The answer was cut off: the budget or credit of this key is used up.')

const asGazewayError = (error: unknown): GazewayError =>
  error instanceof GazewayError
    ? error
    : new GazewayError('internal_error', 'Gazeway itself failed. Its log says more under this request id.', {
        cause: error,
      })

const costHeader = (charged: Micros) => ({ 'x-gazeway-cost-usd': String(toUsd(charged)) })
