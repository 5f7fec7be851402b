import { GazewayError } from '../../errors.ts'
import { payloadOf, signedBytes } from '../../signing/envelope.ts'
import type { GatewayKey } from '../../signing/gateway-keys.ts'
import { isSignedBy, sshKey } from '../../signing/ssh-key.ts'
import type { Store } from '../../store/store.ts'
import type { ArchiveRow } from '../../store/tables/wallet-tables.ts'
import type { ArchivedCalls } from '../receipts/archived-calls.ts'
import type { ArchiveFacts, Seal } from './archive-seal.ts'
import { blocksOf } from './archived-receipts.ts'
import { listArchives } from './archives.ts'
import { type Archive, archiveFile, type CheckedArchive, changed, checkArchive, readBlock } from './read-archive.ts'
import { checkCalls, createCallSums } from './verify-archived-calls.ts'
import { createSums, NO_LEDGER } from './write-archive.ts'

/** Reads the keys that archives are signed with. Null where they are not at hand. */
export type ReadKeys = () => Promise<readonly GatewayKey[] | null>

/** Archives that are sound, or what is wrong with them. */
export interface ArchiveProof {
  /** The months, oldest first. Null when one of them cannot be read: then the ledger cannot be followed. */
  archives: Archive[] | null
  calls: ArchivedCalls
  /** A line for each fault, naming the file. */
  faults: string[]
}

/**
 * Checks the archives of a store, oldest first: each file is the one that was sealed, its seal is signed by one of the keys and
 * names the archive before, its head follows from the one before, and its receipts are those of the sums and the spending that the
 * store has.
 *
 * @param readKeys reads the keys of the gateway; null where they are not at hand, so that signatures are not checked
 */
export async function verifyArchives(store: Store, readKeys: ReadKeys): Promise<ArchiveProof> {
  const rows = await listArchives(store.db)
  const keys = rows.length === 0 ? null : await readKeys()
  const sums = createCallSums()
  const faults: string[] = []
  const archives: Archive[] = []
  let before: Before = { row: null, head: NO_LEDGER }
  for (const row of rows) {
    const path = archiveFile(row.folder, row.month)
    const checked = await checkArchive(path).catch((error) => {
      if (!(error instanceof GazewayError)) throw error
      faults.push(error.message)
      return null
    })
    if (checked === null) continue
    const { facts } = checked
    if (!isKnown(row, checked)) faults.push(changed(path).message)
    if (!follows(facts, before)) faults.push(`The archive ${path} does not follow the one before it.`)
    const signature = keys === null ? null : signatureFault(checked, keys)
    if (signature !== null) faults.push(`The archive ${path} ${signature}.`)
    before = { row, head: facts.ledger_after }
    archives.push({ path, facts })
  }
  const isReadable = archives.length === rows.length
  for (const archive of isReadable ? archives : []) {
    if (!(await sumsAgree(archive)))
      faults.push(`The archive ${archive.path}: its sums are not those of its transfers.`)
    for await (const fault of checkCalls(store, archive, sums)) faults.push(fault)
  }
  const { ofCallers, ofGroups } = sums
  const calls = { until: rows.at(-1)?.ends_at ?? null, ofCallers, ofGroups }
  return { archives: isReadable ? archives : null, calls, faults }
}

interface Before {
  row: ArchiveRow | null
  head: string
}

/** Tells whether a file is the one that the store noted. */
function isKnown(row: ArchiveRow, { facts, sha256, bytes, sealSha256 }: CheckedArchive): boolean {
  const { month, starts_at, ends_at, transfers, receipts, seal_at } = facts
  return (
    sha256 === row.sha256 &&
    JSON.stringify([month, starts_at, ends_at, transfers, receipts, seal_at, bytes, sealSha256]) ===
      JSON.stringify([
        ...[row.month, row.starts_at, row.ends_at, row.transfers, row.receipts],
        ...[row.seal_at, row.bytes, row.seal_sha256],
      ])
  )
}

const follows = ({ previous, starts_at, ledger_before }: ArchiveFacts, { row, head }: Before): boolean =>
  (previous?.sha256 ?? null) === (row?.sha256 ?? null) &&
  ledger_before === head &&
  (row === null || row.ends_at === starts_at)

/** Checks the signature of a seal. Null when one of the keys made it while it was in use. */
function signatureFault({ facts, envelope }: Seal, keys: readonly GatewayKey[]): string | null {
  const [signature] = envelope.signatures
  const key = keys.find(({ keyid }) => keyid === signature?.keyid)
  if (signature === undefined || key === undefined)
    return `is signed by ${signature?.keyid ?? 'nobody'}, which is no key in signing-key.json of this data folder`
  const { sealed_at } = facts
  if (key.valid_until !== null && sealed_at >= key.valid_until)
    return `is signed by ${key.keyid} after that was rotated`
  const blob = Buffer.from(key.public_key.split(' ')[1] ?? '', 'base64')
  if (isSignedBy(sshKey(blob), signedBytes(payloadOf(envelope)), Buffer.from(signature.sig, 'base64'))) return null
  return 'has a signature that is not valid'
}

/** Tells whether the head of the ledger and the sums of accounts are those of the transfers. */
async function sumsAgree(archive: Archive): Promise<boolean> {
  const { facts } = archive
  const sums = createSums(facts.ledger_before)
  for (const block of blocksOf(facts.blocks, 'transfers'))
    for (const row of await readBlock(archive, block)) sums.add(row)
  return sums.head() === facts.ledger_after && JSON.stringify(sums.accounts()) === JSON.stringify(facts.accounts)
}
