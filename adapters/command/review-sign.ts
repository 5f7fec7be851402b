import { readFile } from 'node:fs/promises'
import { GazewayError } from '../../src/errors.ts'
import { type OpenedReceipt, readReceipts } from '../../src/review/receipt.ts'
import { signed } from '../../src/review/statement.ts'
import { fileSigner, type Signer } from '../../src/signing/signer.ts'
import { agentSigners } from '../../src/signing/ssh-agent.ts'
import { sshLine } from '../../src/signing/ssh-key.ts'
import { replaceFile } from '../../src/store/replace-file.ts'
import { plain } from '../../src/text/single-line.ts'

/** Flags of `gazeway review sign`. */
export interface SignFlags {
  key?: string
}

/** Signs a receipt and writes it back. Shows first what is signed. */
export async function signReceipt(file: string, { key }: SignFlags): Promise<void> {
  const receipts = readReceipts(await read(file), file)
  const [receipt] = receipts as [OpenedReceipt]
  if (receipts.length !== 1)
    throw new GazewayError('validation_failed', `${file} has ${receipts.length} receipts, not one.`)
  const { mediaType, sshsig, webauthn, observer, payload, review } = receipt
  const signer = await signerFor(key)
  const { reviewer, decision, coverage, level } = review
  const envelope = await signed(payload, signer)
  const beside = { ...(sshsig && { sshsig }), ...(webauthn && { webauthn }), ...(observer && { observer }) }
  await replaceFile(file, `${JSON.stringify({ mediaType, envelope, ...beside })}\n`)
  process.stdout.write(
    `${plain(reviewer.id)}: ${decision}, ${coverage.seen} of ${coverage.lines} lines seen, level ${level}; signed with ${signer.key.fingerprint}.\n`,
  )
}

/** Finds the signer for a private key file, a public key in ssh-agent, or the only key there. */
async function signerFor(file: string | undefined): Promise<Signer> {
  const text = file === undefined ? null : await read(file)
  if (text !== null && /PRIVATE KEY-----/.test(text)) return fileSigner(text)
  const socket = process.env.SSH_AUTH_SOCK
  if (!socket) throw new GazewayError('not_found', 'There is no ssh-agent (SSH_AUTH_SOCK). Name a key: --key FILE.')
  const signers = await agentSigners(socket)
  const found = text === null ? signers : signers.filter(({ key }) => text.trim().startsWith(sshLine(key)))
  const [signer] = found
  if (signer !== undefined && found.length === 1) return signer
  const keys = signers.map(({ key }) => key.fingerprint).join(', ') || 'none'
  throw new GazewayError(
    'not_found',
    `Name one Ed25519 or ECDSA key of ssh-agent by its .pub file: --key FILE. It has: ${keys}.`,
  )
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new GazewayError('not_found', `${file} was not read (${code}).`, { cause })
  }
}
