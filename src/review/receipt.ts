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
  const { receipts, fault } = receiptsIn(text, name)
  if (fault !== null) throw new GazewayError('validation_failed', fault)
  return receipts
}

/**
 * Reads the receipts in a text.
 *
 * @param name of the text
 * @returns also why the first of all else in it is none, and how many more are none; null when all are receipts
 */
export function receiptsIn(text: string, name: string): { receipts: OpenedReceipt[]; fault: string | null } {
  const texts = textsIn(text)
  const receipts: OpenedReceipt[] = []
  let [fault, others] = ['', 0]
  for (const [index, one] of texts.entries()) {
    const value = parseJson(one)
    // A text may have a million lines that are not JSON.
    const opened = value === undefined && fault !== '' ? null : tryToOpen(value)
    if (opened?.receipt !== undefined) receipts.push(opened.receipt)
    else if (opened !== null && fault === '') {
      const place = texts.length === 1 ? name : `${name}:${index + 1}`
      fault = `${faultOf(opened.error, place)} It begins with: ${shorten(plain(one), 60)}`
    } else others++
  }
  if (fault === '') return { receipts, fault: null }
  return { receipts, fault: others === 0 ? fault : `${fault} ${others} more of its lines are none.` }
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
