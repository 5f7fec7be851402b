import { createConnection } from 'node:net'
import { GazewayError } from '../errors.ts'
import type { Signer } from './signer.ts'
import { plainSignature, SIGNING_TYPES, type SshKey, sshKey } from './ssh-key.ts'
import { readSsh, type SshReader, sshString } from './ssh-wire.ts'

// Messages of the protocol (draft-miller-ssh-agent section 6.1).
const REQUEST_IDENTITIES = 11
const IDENTITIES_ANSWER = 12
const SIGN_REQUEST = 13
const SIGN_RESPONSE = 14

/** Longest answer of an agent, as OpenSSH bounds it, in bytes. */
const LONGEST = 256 * 1024
/** Timeout of an answer: a person may have to touch a key or to type a passphrase. In milliseconds. */
const ANSWER_MS = 120_000

/**
 * Lists signers for the keys of an ssh-agent that sign receipts.
 *
 * @param socket path of its socket, as in SSH_AUTH_SOCK
 * @throws GazewayError `not_found` when no agent answers there
 */
export async function agentSigners(socket: string): Promise<Signer[]> {
  const answer = await ask(socket, IDENTITIES_ANSWER, Buffer.from([REQUEST_IDENTITIES]))
  const signers: Signer[] = []
  for (let count = answer.uint32(); count > 0; count--) {
    const blob = answer.string()
    answer.string()
    if (SIGNING_TYPES.includes(readSsh(blob).text())) signers.push(signerOf(socket, sshKey(blob)))
  }
  return signers
}

function signerOf(socket: string, key: SshKey): Signer {
  return {
    key,
    sign: async (data) => {
      const request = [Buffer.from([SIGN_REQUEST]), sshString(key.blob), sshString(data), Buffer.alloc(4)]
      const answer = await ask(socket, SIGN_RESPONSE, Buffer.concat(request))
      const signature = readSsh(answer.string())
      signature.string()
      return plainSignature(key.type, signature.string())
    },
  }
}

function ask(socket: string, expected: number, request: Buffer): Promise<SshReader> {
  return new Promise((done, fail) => {
    const refuse = (reason: string) => {
      connection.destroy()
      fail(new GazewayError('not_found', `The ssh-agent at ${socket} ${reason}.`))
    }
    const connection = createConnection(socket)
    let received = Buffer.alloc(0)
    connection.setTimeout(ANSWER_MS, () => refuse(`did not answer within ${ANSWER_MS / 1000} s`))
    connection.on('error', (error: NodeJS.ErrnoException) => refuse(`was not reached (${error.code})`))
    connection.on('end', () => refuse('closed the connection'))
    connection.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      if (received.length < 4) return
      const length = received.readUInt32BE()
      if (length > LONGEST) return refuse('answered too much')
      if (received.length < 4 + length) return
      if (received[4] !== expected) return refuse('refused: the key may be locked, or its use was not confirmed')
      connection.removeAllListeners('end').end()
      done(readSsh(received.subarray(5, 4 + length)))
    })
    connection.write(sshString(request))
  })
}
