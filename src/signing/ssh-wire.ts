import { GazewayError } from '../errors.ts'

/** Reads the data types of the SSH protocol (RFC 4251 section 5), one after the other. */
export interface SshReader {
  /** Reads a string: its length, then its bytes. */
  string(): Buffer
  text(): string
  uint32(): number
  /** Number of bytes that are left. */
  left(): number
}

/** Creates a reader. Its functions throw a GazewayError `validation_failed` past the end. */
export function readSsh(bytes: Buffer): SshReader {
  let at = 0
  function take(length: number): Buffer {
    if (length > bytes.length - at) throw new GazewayError('validation_failed', 'The key or signature is cut off.')
    at += length
    return bytes.subarray(at - length, at)
  }
  const uint32 = () => take(4).readUInt32BE()
  const string = () => take(uint32())
  return { string, uint32, text: () => string().toString('latin1'), left: () => bytes.length - at }
}

/** Writes a string of the SSH protocol: its length, then its bytes. */
export function sshString(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string, 'latin1')
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
