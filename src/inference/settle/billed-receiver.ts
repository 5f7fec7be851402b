import { GazewayError } from '../../errors.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import type { Bill } from '../admit/bill.ts'
import { LAST_EVENTS, MESSAGE_STOP } from '../api/finish-reason.ts'
import { textOf } from '../observe/generated-text.ts'
import { nextNumber } from '../observe/next-sequence-number.ts'
import type { Receiver } from '../relay/receiver.ts'
import { createAnswerMeter } from './answer-meter.ts'

/** Ends of the streams of a chat completion, a response, a message and a Gemini reply. */
const ENDINGS = ['[DONE]', ...(LAST_EVENTS as readonly string[]), `"${MESSAGE_STOP}"`, '"finishReason":']

/** Receiver of a billed call. */
export interface BilledReceiver extends Receiver {
  paid(): Promise<GazewayError | null> | null
  /**
   * Sends the end of the reply to the client.
   *
   * @throws GazewayError `budget_reached` for a whole reply that was not paid for
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
 * a stream only its last event. A part of a stream that outgrows the reservation waits for more money; when there is
 * none, the stream is cut off before it.
 *
 * @param errorEvent builds an error event for the stream, with its sequence number
 * @param tellsCost true where a comment with the cost may end the stream: some clients do not read over it
 */
export function billedReceiver(
  receiver: Receiver,
  bill: Bill,
  {
    errorEvent,
    tellsCost = true,
    countTokens,
  }: {
    errorEvent: (error: GazewayError, sequenceNumber: number) => Buffer | string
    tellsCost?: boolean
    countTokens(text: string): Promise<number>
  },
): BilledReceiver {
  const { isCharged, isBounded, isOpenEnded } = bill
  let whole: Parameters<Receiver['whole']> | undefined
  let begun = false
  let ending: (Buffer | string)[] = []
  let isEnded = false
  let cut: GazewayError | null = null
  const goneListeners: Array<() => void> = []
  const meter = createAnswerMeter(bill, countTokens)
  /** Parts of a stream that wait for money, and whether the stream ends with them. Null when none waits. */
  let waiting: { parts: Buffer[]; isLast: boolean; paid: Promise<GazewayError | null> } | null = null
  let resume: (() => void) | undefined
  /** The last numbered events. */
  let numbered: Buffer | null = null

  const isPaid = (text: () => string): boolean => !isBounded || meter.covers(text)

  function waitFor(part: Buffer | string | undefined, isLast: boolean): void {
    waiting ??= { parts: [], isLast: false, paid: pay() }
    if (part !== undefined) waiting.parts.push(Buffer.from(part as Buffer))
    waiting.isLast ||= isLast
  }

  /** Extends the reservation for the parts that wait and passes them on, or cuts the stream off. */
  async function pay(): Promise<GazewayError | null> {
    // For example, the store does not respond: the client gets the error and pays for what it has received.
    const error = await extend().catch(asGazewayError)
    const { parts, isLast } = waiting as NonNullable<typeof waiting>
    const covered = error === null ? parts : await meter.covered(parts).catch(() => [])
    waiting = null
    let goesOn = true
    for (const part of covered) goesOn = deliver(part)
    if (error !== null) cutOff(error)
    if (isLast) end()
    if (whole && !isCharged && cut === null) receiver.whole(...whole)
    const go = resume
    resume = undefined
    if (go && goesOn) go()
    else if (go) receiver.onDrain(go)
    return error
  }

  async function extend(): Promise<GazewayError | null> {
    do {
      if (!(await meter.extend())) return bill.outgrown()
    } while (!meter.covers(() => ''))
    return null
  }

  /** Ends the reply with an error and aborts the upstream's. */
  function cutOff(error: GazewayError): void {
    cut = error
    whole = undefined
    for (const listener of goneListeners) listener()
  }

  function deliver(bytes: Buffer | string): boolean {
    if (bytes.includes('"sequence_number"')) numbered = Buffer.from(bytes as Buffer)
    if (isCharged && (ending.length > 0 || ENDINGS.some((mark) => bytes.includes(mark)))) {
      ending.push(bytes)
      return true
    }
    return receiver.write(bytes)
  }

  /** Ends a stream, or the part of it that need not wait for the charge. */
  function end(bytes?: Buffer | string): void {
    if (bytes !== undefined && isCharged) ending.push(bytes)
    const isFirst = !isEnded
    isEnded = true
    if (isCharged || !isFirst) return
    receiver.end(cut === null ? bytes : errorEvent(cut, nextNumber(numbered)))
  }

  return {
    beat: receiver.beat,
    isGone: () => cut !== null || receiver.isGone(),
    onGone(listener) {
      goneListeners.push(listener)
      receiver.onGone(listener)
    },
    reason: () => cut ?? receiver.reason?.(),
    watch: meter.follow,
    paid: () => waiting?.paid ?? (cut && Promise.resolve(cut)),
    whole(...reply) {
      const [status, , bytes] = reply
      if (status >= 400) return receiver.whole(...reply)
      meter.follow(null)
      const waits = isOpenEnded && !isPaid(() => String(bytes))
      if (!isCharged && !waits) return receiver.whole(...reply)
      whole = reply
      if (waits) waitFor(undefined, false)
    },
    head(status, headers) {
      begun = true
      receiver.head(status, headers)
    },
    write(bytes) {
      if (cut !== null) return true
      begun = true
      if (waiting === null && isPaid(() => textOf(Buffer.from(bytes as Buffer)))) return deliver(bytes)
      waitFor(bytes, false)
      return false
    },
    onDrain(listener) {
      if (waiting === null) receiver.onDrain(listener)
      else resume = () => (receiver.isGone() ? undefined : listener())
    },
    drop() {
      if (cut === null) receiver.drop()
      else end()
    },
    end(bytes) {
      if (cut !== null || (waiting === null && isPaid(() => textOf(Buffer.from((bytes ?? '') as Buffer))))) end(bytes)
      else waitFor(bytes, true)
    },
    finish(callId, charged) {
      if (whole) {
        if (!isCharged) return
        const [status, headers, bytes] = whole
        receiver.whole(status, charged === null ? headers : { ...headers, ...costHeader(charged) }, bytes)
      } else if (begun && (cut !== null || isEnded || ending.length > 0)) {
        if (!isCharged) return
        for (const bytes of cut === null ? ending : [errorEvent(cut, nextNumber(numbered))]) receiver.write(bytes)
        receiver.end(
          charged === null || !tellsCost
            ? undefined
            : `: x-gazeway-call-id=${callId} x-gazeway-cost-usd=${toUsd(charged)}\n\n`,
        )
      } else if (cut !== null) throw cut
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

const asGazewayError = (error: unknown): GazewayError =>
  error instanceof GazewayError
    ? error
    : new GazewayError('internal_error', 'Internal error. Search the log for this request id.', {
        cause: error,
      })

const costHeader = (charged: Micros) => ({ 'x-gazeway-cost-usd': String(toUsd(charged)) })
