import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Signer } from '../../signing/signer.ts'
import type { LedgerTransferRow, MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { type Entry, FIRST_HEAD } from '../ledger/transfer.ts'
import { ARCHIVE_FORMAT, type ArchivedAccount, type ArchiveFacts, type Block, signSeal } from './archive-seal.ts'

const compress = promisify(gzip)

/** Rows of a month in the order of the file, at most a block at a time: all transfers, then all receipts. */
export type MonthRows = AsyncIterable<
  { of: 'transfers'; rows: LedgerTransferRow[] } | { of: 'receipts'; rows: MeteredCallRow[] }
>

/** Facts about an archive that is to be written. */
export type NewArchive = Pick<
  ArchiveFacts,
  'month' | 'starts_at' | 'ends_at' | 'sealed_at' | 'previous' | 'ledger_before'
>

/** Digests of a file that was written. */
export interface WrittenArchive {
  facts: ArchiveFacts
  content: string
}

/** Place of a row among those of its kind. */
const placeOf = {
  transfers: ({ chain, position }: LedgerTransferRow): Block['first'] => [chain, position],
  receipts: ({ at, call_id }: MeteredCallRow): Block['first'] => [at, call_id],
} as const

/**
 * Writes an archive and flushes it: gzip members, each of JSON lines, and the seal as the last line.
 *
 * @throws the system's error, when the file exists, too
 */
export async function writeArchive(
  path: string,
  about: NewArchive,
  rows: MonthRows,
  signer: Signer,
): Promise<WrittenArchive> {
  const file = await open(path, 'wx', 0o600)
  try {
    const writer = createWriter(file)
    const sums = createSums(about.ledger_before)
    await writer.header(`${JSON.stringify({ gazeway_archive: ARCHIVE_FORMAT, month: about.month })}\n`)
    for await (const part of rows) {
      if (part.rows.length === 0) continue
      if (part.of === 'transfers') for (const row of part.rows) sums.add(row)
      const places = part.of === 'transfers' ? part.rows.map(placeOf.transfers) : part.rows.map(placeOf.receipts)
      const lines = part.rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      await writer.block(part.of, lines, places)
    }
    const { blocks, sealAt, content } = writer.end()
    const rowsOf = (of: Block['of']) => blocks.reduce((sum, block) => sum + (block.of === of ? block.rows : 0), 0)
    const facts: ArchiveFacts = {
      format: ARCHIVE_FORMAT,
      ...about,
      ledger_after: sums.head(),
      transfers: rowsOf('transfers'),
      receipts: rowsOf('receipts'),
      accounts: sums.accounts(),
      blocks,
      seal_at: sealAt,
    }
    await writer.header(`${JSON.stringify({ seal: await signSeal(facts, content, signer) })}\n`)
    await file.sync()
    return { facts, content }
  } finally {
    await file.close()
  }
}

function createWriter(file: FileHandle) {
  const content = createHash('sha256')
  const blocks: Block[] = []
  let at = 0
  async function member(lines: string): Promise<Buffer> {
    content.update(lines)
    const bytes = await compress(lines)
    await file.writeFile(bytes)
    at += bytes.length
    return bytes
  }
  return {
    async header(line: string): Promise<void> {
      await member(line)
    },
    async block(of: Block['of'], lines: string, places: ReadonlyArray<Block['first']>): Promise<void> {
      const start = at
      const bytes = await member(lines)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const [first, last] = [places[0], places.at(-1)] as [Block['first'], Block['first']]
      blocks.push({ of, at: start, bytes: bytes.length, rows: places.length, sha256, first, last })
    },
    end: () => ({ blocks, sealAt: at, content: content.copy().digest('hex') }),
  }
}

/** Adds up the transfers of a month: the head of the ledger, and the sums of its accounts. */
export function createSums(before: string) {
  const head = createHash('sha256').update(`${before}\n`)
  const accounts = new Map<string, ArchivedAccount>()
  const of = (account: string): ArchivedAccount => {
    const known = accounts.get(account) ?? { account, micros: 0, deposited_micros: 0, transfers: 0, first: 0, last: 0 }
    accounts.set(account, known)
    return known
  }
  return {
    add({ chain, position, hash, entries }: LedgerTransferRow): void {
      head.update(`${hash}\n`)
      const own = of(chain)
      own.transfers += 1
      own.first ||= position
      own.last = position
      for (const { account, micros, deposited = 0 } of JSON.parse(entries) as Entry[]) {
        const sum = of(account)
        sum.micros += micros
        sum.deposited_micros += deposited
      }
    },
    head: () => head.copy().digest('hex'),
    accounts: () => [...accounts.values()].sort((a, b) => (a.account < b.account ? -1 : 1)),
  }
}

/** Head before the first archive. */
export const NO_LEDGER = FIRST_HEAD
