import { createHash } from 'node:crypto'
import { isSshSignedBy, type SshKey, sshKey } from './ssh-key.ts'
import { readSsh, sshString } from './ssh-wire.ts'

const MAGIC = 'SSHSIG'
const ARMOUR = /^-----BEGIN SSH SIGNATURE-----\s([A-Za-z0-9+/=\s]+)-----END SSH SIGNATURE-----\s*$/

/**
 * Checks an armoured signature of `ssh-keygen -Y sign` (PROTOCOL.sshsig of OpenSSH) over a message.
 *
 * @param expected namespace that it has to be for
 * @returns the key that made it; null when it is not valid, or is for another namespace
 */
export function sshsigSigner(armoured: string, message: Buffer, expected: string): SshKey | null {
  const [, base64 = ''] = ARMOUR.exec(armoured) ?? []
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  try {
    const reader = readSsh(bytes.subarray(MAGIC.length))
    if (reader.uint32() !== 1) return null
    const key = sshKey(reader.string())
    const [namespace, reserved, hash, signature] = [reader.text(), reader.text(), reader.text(), reader.string()]
    if (namespace !== expected || (hash !== 'sha256' && hash !== 'sha512')) return null
    const digest = createHash(hash).update(message).digest()
    const parts = [namespace, reserved, hash, digest].map(sshString)
    return isSshSignedBy(key, Buffer.concat([Buffer.from(MAGIC), ...parts]), signature) ? key : null
  } catch {
    return null
  }
}
