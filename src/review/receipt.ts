import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { Envelope, payloadOf } from '../signing/envelope.ts'
import { Assertion } from '../signing/webauthn.ts'
import { isObject, parseJson } from '../text/json.ts'
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
  const texts = textsIn(text)
  return texts.map((one, index) => openReceipt(parseJson(one), texts.length === 1 ? name : `${name}:${index + 1}`))
}

/** Reads the receipts in a text whose statements are wanted. Whatever else is in it is skipped, also what is no receipt. */
export function receiptsWith(text: string, isWanted: (payload: Buffer) => boolean): OpenedReceipt[] {
  return textsIn(text).flatMap((one) => {
    const { receipt } = tryToOpen(parseJson(one))
    return receipt !== undefined && isWanted(receipt.payload) ? [receipt] : []
  })
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
  const [issue] = opened.error.issues
  const place = issue?.path.join('.') || 'it'
  throw new GazewayError('validation_failed', `${name} is no review receipt: ${place}: ${issue?.message}.`)
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
