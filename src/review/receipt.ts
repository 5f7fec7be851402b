import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { Envelope, payloadOf } from '../signing/envelope.ts'
import { Assertion } from '../signing/webauthn.ts'
import { shorten } from '../text/cut.ts'
import { isObject, parseJson } from '../text/json.ts'
import { plain } from '../text/single-line.ts'
import { ReceiptStatement, type Review } from './statement.ts'

/** Media type of receipts. */
export const RECEIPT_MEDIA_TYPE = 'application/vnd.gazeway.review-receipt.v1+json'

/** A receipt as it travels: the reviewer's envelope, and what stands beside it. */
export const Receipt = z.object({
  mediaType: z.literal(RECEIPT_MEDIA_TYPE),
  envelope: Envelope,
  sshsig: z.string().optional().describe('`ssh-keygen -Y sign -n gazeway-review` over the signed bytes, armoured'),
  webauthn: Assertion.optional().describe('a passkey’s answer; its challenge is the sha256 of the signed bytes'),
  observer: Envelope.optional().describe('the countersignature of the gateway that observed the review'),
})
export type Receipt = z.infer<typeof Receipt>

/** A receipt with its statement. Neither is trusted before its signature. */
export interface OpenedReceipt extends Receipt {
  payload: Buffer
  review: Review
  /** Digests of its subjects: `gitCommit`, `gitTree` and `sha256` of the change. */
  subjects: Record<string, string>
}

/**
 * Reads the receipts in a file: one as JSON, or one a line. An envelope alone is a receipt, too.
 *
 * @param name of the file, for errors
 * @throws GazewayError `validation_failed` naming what is no receipt
 */
export function readReceipts(text: string, name: string): OpenedReceipt[] {
  const { receipts, faults } = receiptsIn(text, name)
  if (faults[0] !== undefined) throw new GazewayError('validation_failed', faults[0])
  return receipts
}

/** Reads the receipts in a text, and says of all else in it why it is none. @param name of the text */
export function receiptsIn(text: string, name: string): { receipts: OpenedReceipt[]; faults: string[] } {
  const texts = textsIn(text)
  const opened = texts.map((one) => tryToOpen(parseJson(one)))
  return {
    receipts: opened.flatMap(({ receipt }) => receipt ?? []),
    faults: opened.flatMap((one, index) => {
      if (one.receipt !== undefined) return []
      const begin = shorten(plain(texts[index] as string), 60)
      return [`${faultOf(one.error, texts.length === 1 ? name : `${name}:${index + 1}`)} It begins with: ${begin}`]
    }),
  }
}

/** Splits a text into receipts: it is one as JSON, or has one a line. */
const textsIn = (text: string): string[] =>
  parseJson(text) === undefined ? text.split('\n').filter((line) => line.trim() !== '') : [text]

/**
 * Opens a receipt from JSON.
 *
 * @param name of it, for errors
 * @throws GazewayError `validation_failed` when it is none
 */
export function openReceipt(value: unknown, name: string): OpenedReceipt {
  const opened = tryToOpen(value)
  if (opened.receipt !== undefined) return opened.receipt
  throw new GazewayError('validation_failed', faultOf(opened.error, name))
}

function faultOf({ issues: [issue] }: z.ZodError, name: string): string {
  return `${name} is no review receipt: ${issue?.path.join('.') || 'it'}: ${issue?.message}.`
}

/** Opens a receipt from JSON, or says why it is none. */
function tryToOpen(value: unknown): { receipt: OpenedReceipt } | { receipt?: never; error: z.ZodError } {
  const isEnvelope = isObject(value) && 'payloadType' in value
  const travelling = Receipt.safeParse(isEnvelope ? { mediaType: RECEIPT_MEDIA_TYPE, envelope: value } : value)
  if (!travelling.success) return travelling
  const payload = payloadOf(travelling.data.envelope)
  const statement = ReceiptStatement.safeParse(parseJson(payload.toString()))
  if (!statement.success) return statement
  const subjects = Object.assign({}, ...statement.data.subject.map(({ digest }) => digest))
  return { receipt: { ...travelling.data, payload, review: statement.data.predicate, subjects } }
}
