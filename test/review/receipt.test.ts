import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { bundleFromJSON } from '@sigstore/bundle'
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify'
import { authenticate } from '../../src/review/authenticate-receipt.ts'
import { readChange } from '../../src/review/change.ts'
import type { Change } from '../../src/review/change-parts.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { type OpenedReceipt, RECEIPT_MEDIA_TYPE, readReceipts } from '../../src/review/receipt.ts'
import { receiptPayload, unsigned } from '../../src/review/statement.ts'
import type { Envelope } from '../../src/signing/envelope.ts'
import { signedBytes } from '../../src/signing/envelope.ts'
import { fileSigner } from '../../src/signing/signer.ts'
import { createKeyFolder, WITHOUT_OPENSSH } from '../signing/openssh.ts'
import { passkeyOf } from '../signing/passkey.ts'
import { createPerson, lineOf, NOW, type Person, policyOf, receiptOf, reopened, reviewOf } from './people.ts'
import { createRepository } from './repository.ts'

async function changeOf(t: TestContext): Promise<Change> {
  const { root, commitFiles } = createRepository(t)
  commitFiles({ 'a.txt': 'one\n' })
  commitFiles({ 'a.txt': 'two\n' })
  return readChange(await openCheckout(root), 'HEAD^', 'HEAD')
}

/** Verifies an envelope with the verifier of Sigstore and this person's key. Throws when it refuses. */
function verifyOutside({ payload, payloadType, signatures }: Envelope, { signer }: Person): void {
  const bundle = bundleFromJSON({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: signatures[0]?.keyid ?? '' }, tlogEntries: [] },
    dsseEnvelope: { payload, payloadType, signatures },
  })
  const root = { mediaType: '', tlogs: [], ctlogs: [], certificateAuthorities: [], timestampAuthorities: [] }
  const keyFinder = () => ({ publicKey: signer.key.key, validFor: () => true })
  const trust = { ...toTrustMaterial(root as never), publicKey: keyFinder }
  const verifier = new Verifier(trust as never, { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 })
  verifier.verify(toSignedEntity(bundle))
}

const flipped = (base64: string, at: number): string => {
  const bytes = Buffer.from(base64, 'base64')
  bytes.writeUInt8(bytes.readUInt8(at % bytes.length) ^ 1, at % bytes.length)
  return bytes.toString('base64')
}

describe('a receipt', () => {
  it('is verified by @sigstore/verify, ten times of ten, and refused after any of ten changes', async (t) => {
    const change = await changeOf(t)
    const people = Array.from({ length: 10 }, (_, at) => createPerson(`p${at}@example.org`, at % 2 ? 'ec' : 'ed25519'))
    for (const [at, person] of people.entries()) {
      const { envelope } = await receiptOf(change, person)
      verifyOutside(envelope, person)
      const [{ keyid, sig }] = envelope.signatures as [{ keyid: string; sig: string }]
      const changed =
        at < 5
          ? { ...envelope, payload: flipped(envelope.payload, 37 * (at + 1)) }
          : { ...envelope, signatures: [{ keyid, sig: flipped(sig, 11 + 7 * at) }] }
      assert.throws(() => verifyOutside(changed, person), /signature|SIGNATURE/, `change ${at}`)
    }
  })

  it('is an in-toto statement about the commit, the tree and the change', async (t) => {
    const change = await changeOf(t)
    const { subjects, payload } = await receiptOf(change, createPerson('ann@example.org'))
    assert.deepEqual(subjects, { gitCommit: change.head.commit, gitTree: change.head.tree, sha256: change.digest })
    assert.equal(JSON.parse(payload.toString())._type, 'https://in-toto.io/Statement/v1')
  })

  it('is read from a file with one, with several, or an envelope alone', async (t) => {
    const { envelope } = await receiptOf(await changeOf(t), createPerson('ann@example.org'))
    const receipt = { mediaType: RECEIPT_MEDIA_TYPE, envelope }
    assert.equal(readReceipts(JSON.stringify(receipt, null, 2), 'a').length, 1)
    assert.equal(readReceipts(`${JSON.stringify(receipt)}\n${JSON.stringify(envelope)}\n`, 'a').length, 2)
    const faults: [string, RegExp][] = [
      ['nothing', /^GazewayError: a is no review receipt: it: /],
      [`${JSON.stringify(receipt)}\n{}`, /^GazewayError: a:2 is no review receipt: mediaType: /],
      [JSON.stringify({ ...envelope, payload: btoa('{}') }), /is no review receipt: _type: /],
      [JSON.stringify({ ...envelope, signatures: [1, 2] }), /is no review receipt: envelope\.signatures: /],
    ]
    for (const [text, fault] of faults) assert.throws(() => readReceipts(text, 'a'), fault)
  })

  it('counts with an SSH signature beside it, and not with one for another purpose', {
    skip: WITHOUT_OPENSSH,
  }, async (t) => {
    const change = await changeOf(t)
    const { createKey, sign } = createKeyFolder(t)
    const file = createKey('ed25519')
    const ann = { name: 'ann@example.org', signer: fileSigner(readFileSync(file, 'utf8')) }
    const payload = receiptPayload(change, reviewOf(change, ann.name))
    const policy = await policyOf([lineOf(ann)])
    const levelWith = (namespace: string) => {
      const sshsig = sign(file, namespace, signedBytes(payload))
      const receipt = reopened({ mediaType: RECEIPT_MEDIA_TYPE, envelope: unsigned(payload), sshsig })
      const found = authenticate(receipt, policy, NOW)
      return typeof found === 'string' ? found : found.level
    }
    assert.equal(levelWith('gazeway-review'), 'seen')
    assert.equal(levelWith('git'), 'no key that the policy allows to ann@example.org signed it')
  })
})

describe('a passkey beside a receipt', () => {
  const gateway = createPerson('gateway')
  const ann = createPerson('ann@example.org')

  /** A countersigned receipt with the answer of a passkey, which a policy enrolls or does not. */
  async function withPasskey(t: TestContext, options: Parameters<typeof passkeyOf>[0], isSigned = true) {
    const change = await changeOf(t)
    const receipt = await receiptOf(change, ann, { observer: gateway, level: 'seen' })
    const { enrolled, answer } = passkeyOf(options)
    const webauthn = answer(signedBytes(receipt.payload))
    const envelope = isSigned ? receipt.envelope : unsigned(receipt.payload)
    const opened = reopened({ mediaType: RECEIPT_MEDIA_TYPE, envelope, observer: receipt.observer, webauthn })
    return { receipt: opened, passkey: { ...enrolled, reviewer: ann.name } }
  }

  const judged = async (receipt: OpenedReceipt, passkeys: object[], observers = ['gateway']) => {
    const lines = [lineOf(ann), lineOf(gateway, 'namespaces="gazeway-observer"')]
    const found = authenticate(receipt, await policyOf(lines, { passkeys, observers }), NOW)
    return typeof found === 'string' ? found : found.level
  }

  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const)
    it(`proves presence with ${algorithm}, also without another signature`, async (t) => {
      const { receipt, passkey } = await withPasskey(t, { algorithm })
      assert.equal(await judged(receipt, [passkey]), 'present')
      const alone = await withPasskey(t, { algorithm }, false)
      assert.equal(await judged(alone.receipt, [alone.passkey]), 'present')
    })

  it('proves none when it is not enrolled, is another person’s, or nobody else observed the review', async (t) => {
    const { receipt, passkey } = await withPasskey(t, {})
    assert.equal(await judged(receipt, []), 'seen')
    assert.equal(await judged(receipt, [{ ...passkey, reviewer: 'bob@example.org' }]), 'seen')
    assert.equal(await judged(receipt, [passkey], []), 'seen')
  })

  it('is refused without user verification, from another origin or domain, and over another message', async (t) => {
    const faults: [Parameters<typeof passkeyOf>[0], string][] = [
      [{ flags: 0x01 }, 'the passkey did not verify the user'],
      [{ origin: 'http://evil.example' }, 'the passkey was used at http://evil.example'],
      [{ rpId: 'evil.example' }, 'the passkey is for another domain'],
      [{ message: Buffer.from('other') }, 'the passkey signed something else'],
      [{ client: { crossOrigin: true } }, 'the passkey was used in a frame of another site'],
      [
        { client: { crossOrigin: false, topOrigin: 'https://evil.example' } },
        'the passkey was used in a frame of another site',
      ],
      [{ client: { crossOrigin: 'true' } }, 'the client data are not those of a passkey'],
      [{ type: 'webauthn.create' }, 'the client data are not those of a passkey'],
      [{ otherKey: true }, 'the passkey’s signature is not valid'],
    ]
    for (const [options, reason] of faults) {
      const { receipt, passkey } = await withPasskey(t, options, false)
      assert.equal(await judged(receipt, [passkey]), reason)
    }
  })
})
