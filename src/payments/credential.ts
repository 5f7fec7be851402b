import { Credential } from 'mppx'
import { GazewayError } from '../errors.ts'
import type { Checked, PaymentMethod, Terms } from './payment.ts'
import { chainUnreachable, isUnreachable, paymentRequired, refusalOf } from './refusal.ts'

/** A credential, its challenge and its method; nothing of it is verified. */
export interface ReadCredential {
  credential: string
  challenge: Credential.Credential['challenge']
  method: PaymentMethod
}

/** Parses a credential and finds its method. @throws GazewayError `payment_required` */
export function readCredential(header: string | null, methods: readonly PaymentMethod[]): ReadCredential {
  const { credential, challenge } = parse(header)
  const method = methods.find(({ name }) => name === challenge.method)
  if (!method) throw paymentRequired('This payment method is not offered. Answer a challenge in WWW-Authenticate.')
  return { credential, challenge, method }
}

/** Finds the signer of a credential; null when only the chain can tell. @throws GazewayError `payment_required` */
export async function signerOf({ credential, method }: ReadCredential, terms: Terms): Promise<string | null> {
  if (!method.signer) return null
  const payer = await method.signer(credential, terms).catch(refuse)
  requirePayer(payer, terms)
  return payer
}

/** Verifies a credential. @throws GazewayError `payment_required` or `upstream_unreachable` */
export async function checkCredential({ credential, method }: ReadCredential, terms: Terms): Promise<Checked> {
  const checked = await method.check(credential, terms).catch(refuse)
  requirePayer(checked.payer, terms)
  return checked
}

function parse(header: string | null) {
  const credential = header === null ? null : Credential.extractPaymentScheme(header)
  if (credential === null) throw paymentRequired('This request costs money: answer the challenge in WWW-Authenticate.')
  try {
    refusePadding(credential)
    return { credential, challenge: Credential.deserialize(credential).challenge }
  } catch (error) {
    throw paymentRequired('The credential cannot be read. Create one from the challenge in WWW-Authenticate.', error)
  }
}

/**
 * Padding that no valid base64 has, as that ends in two `=` at most. mppx takes quadratic time in the number of `=`, in
 * a credential and in its content.
 */
const PADDING = '='.repeat(32)

function refusePadding(credential: string): void {
  const held = Buffer.from(credential.slice('Payment '.length), 'base64').toString('latin1')
  if (credential.includes(PADDING) || held.includes(PADDING)) throw new Error('More padding than base64 allows.')
}

function refuse(error: unknown): never {
  if (error instanceof GazewayError) throw error
  if (isUnreachable(error)) throw chainUnreachable(error)
  throw paymentRequired(
    refusalOf(error) ?? 'The credential is not valid. Create one from the challenge in WWW-Authenticate.',
    error,
  )
}

function requirePayer(payer: string, terms: Terms): void {
  if (terms.payer === undefined || payer === terms.payer) return
  throw paymentRequired(`The payment must come from ${terms.payer}, the wallet that makes the request.`)
}
