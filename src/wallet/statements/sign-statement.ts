import { createHash } from 'node:crypto'
import { type Envelope, PAYLOAD_TYPE, signedBytes } from '../../signing/envelope.ts'
import type { Signer } from '../../signing/signer.ts'
import type { Statement } from './statement.ts'
import { statementCsv } from './statement-csv.ts'

/** Type of the predicate about a statement's figures. */
const STATEMENT_PREDICATE = 'https://github.com/gazeway/gazeway/attestations/account-statement/v1'

/**
 * Signs a statement: an in-toto statement (in-toto.io/Statement/v1) whose subject is its CSV, by SHA-256, and whose
 * predicate has the balances, the sums and the ledger's head. Standard verifiers of DSSE envelopes read it.
 */
export async function signStatement(statement: Statement, signer: Signer): Promise<Envelope> {
  const { movements: _, charges: __, ...predicate } = statement
  const sha256 = createHash('sha256').update(statementCsv(statement)).digest('hex')
  const payload = Buffer.from(
    JSON.stringify({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: `statement-${statement.period}.csv`, digest: { sha256 } }],
      predicateType: STATEMENT_PREDICATE,
      predicate,
    }),
  )
  const sig = (await signer.sign(signedBytes(payload))).toString('base64')
  return {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString('base64'),
    signatures: [{ keyid: signer.key.fingerprint, sig }],
  }
}
