import type { Receipt } from '../../../../src/review/receipt.ts'
import type { Assertion, Passkey } from '../../../../src/signing/webauthn.ts'

/** Public-key algorithms that receipts are verified with: ES256, EdDSA, RS256. */
const ALGORITHMS = [-7, -8, -257]

/** Makes a passkey of this machine. @throws DOMException when the person or the browser refuses */
export async function makePasskey(reviewer: string): Promise<Pick<Passkey, 'credential_id' | 'public_key'>> {
  const made = (await navigator.credentials.create({
    publicKey: {
      rp: { id: location.hostname, name: 'Gazeway reviews' },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: reviewer, displayName: reviewer },
      // The policy enrolls the key itself, so that nothing is proved by an answer to a challenge here.
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: { userVerification: 'required' },
    },
  })) as PublicKeyCredential
  const key = (made.response as AuthenticatorAttestationResponse).getPublicKey()
  if (key === null) throw new Error('This passkey has a key of a kind that receipts are not verified with.')
  return { credential_id: base64Url(made.rawId), public_key: base64Url(key) }
}

/** Has a passkey confirm a receipt with user verification. @throws DOMException when the person or the browser refuses */
export async function confirmWith(
  credentialId: string,
  { envelope }: Receipt,
  signal: AbortSignal,
): Promise<Assertion> {
  const payload = fromBase64(envelope.payload)
  const before = `DSSEv1 ${envelope.payloadType.length} ${envelope.payloadType} ${payload.length} `
  const signed = new Uint8Array([...new TextEncoder().encode(before), ...payload])
  const answer = (await navigator.credentials.get({
    signal,
    publicKey: {
      rpId: location.hostname,
      challenge: await crypto.subtle.digest('SHA-256', signed),
      allowCredentials: [
        { type: 'public-key', id: fromBase64(credentialId.replaceAll('-', '+').replaceAll('_', '/')) },
      ],
      userVerification: 'required',
    },
  })) as PublicKeyCredential
  const response = answer.response as AuthenticatorAssertionResponse
  return {
    credential_id: base64Url(answer.rawId),
    authenticator_data: base64Url(response.authenticatorData),
    client_data_json: base64Url(response.clientDataJSON),
    signature: base64Url(response.signature),
  }
}

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

const base64Url = (bytes: ArrayBuffer): string =>
  btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
