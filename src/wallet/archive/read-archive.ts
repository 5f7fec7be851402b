import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { GazewayError } from '../../errors.ts'
import type { ArchiveRow, LedgerTransferRow, MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { isMissing } from '../../text/missing-file.ts'
import { type ArchiveFacts, type Block, readSeal, type Seal } from './archive-seal.ts'

const decompress = promisify(gunzip)

/** Advice for a file that is not as it was sealed. */
const ADVICE = 'Put the file back from a copy of the folder; until then what it holds cannot be shown.'

/** File of a month in a folder of archives. */
export const archiveFile = (folder: string, month: string): string => join(folder, `${month}.jsonl.gz`)

/** A sealed month whose seal was read. */
export interface Archive {
  path: string
  facts: ArchiveFacts
}

/** Rows of the blocks of a kind. */
interface RowsOf {
  transfers: LedgerTransferRow
  receipts: MeteredCallRow
}

/** The store knows what it needs to trust a file. */
export type KnownFile = Pick<ArchiveRow, 'month' | 'folder' | 'bytes' | 'seal_at' | 'seal_sha256'>

/** Seals by digest, those that were used last. */
const seals = new LRUCache<string, ArchiveFacts>({ max: 24 })

/**
 * Opens the archive of a month. Its seal is compared with the digest that the store has.
 *
 * @throws GazewayError `store_corrupt` naming a file that is missing or was changed
 */
export async function openArchive(row: KnownFile): Promise<Archive> {
  const path = archiveFile(row.folder, row.month)
  return withFile(path, async (file) => {
    if ((await file.stat()).size !== row.bytes) throw changed(path)
    const known = seals.get(row.seal_sha256)
    if (known) return { path, facts: known }
    const bytes = await bytesAt(file, row.seal_at, row.bytes - row.seal_at, path)
    if (digestOf(bytes) !== row.seal_sha256) throw changed(path)
    const seal = readSeal((await plain(bytes, path)).toString())
    if (seal === null) throw changed(path)
    seals.set(row.seal_sha256, seal.facts)
    return { path, facts: seal.facts }
  })
}

/**
 * Reads the rows of a block.
 *
 * @throws GazewayError `store_corrupt` naming a file that is missing or was changed
 */
export async function readBlock<Of extends Block['of']>(
  { path }: Archive,
  block: Block & { of: Of },
): Promise<Array<RowsOf[Of]>> {
  const bytes = await withFile(path, (file) => bytesAt(file, block.at, block.bytes, path))
  if (digestOf(bytes) !== block.sha256) throw changed(path)
  return rowsIn(await plain(bytes, path))
}

/** A whole file that was read and is sound in itself. */
export interface CheckedArchive extends Seal {
  sha256: string
  bytes: number
  sealSha256: string
}

/**
 * Reads a whole file: every block has its digest, and all lines have that of the seal.
 *
 * @throws GazewayError `store_corrupt` naming a file that is missing or was changed
 */
export async function checkArchive(path: string): Promise<CheckedArchive> {
  const seal = readSeal(await lastLine(path))
  if (seal === null) throw changed(path)
  const { blocks, seal_at: sealAt } = seal.facts
  return withFile(path, async (file) => {
    const { size } = await file.stat()
    const [whole, content] = [createHash('sha256'), createHash('sha256')]
    let at = 0
    const take = async (length: number) => {
      const bytes = await bytesAt(file, at, length, path)
      at += length
      whole.update(bytes)
      return bytes
    }
    content.update(await plain(await take(blocks[0]?.at ?? sealAt), path))
    for (const block of blocks) {
      const bytes = block.at === at ? await take(block.bytes) : null
      if (bytes === null || digestOf(bytes) !== block.sha256) throw changed(path)
      content.update(await plain(bytes, path))
    }
    if (at !== sealAt || content.digest('hex') !== seal.content) throw changed(path)
    const sealSha256 = digestOf(await take(size - at))
    return { ...seal, sha256: whole.digest('hex'), bytes: size, sealSha256 }
  })
}

/** Error of a file that is not as it was sealed. */
export const changed = (path: string): GazewayError =>
  new GazewayError('store_corrupt', `The archive ${path} was changed after it was sealed. ${ADVICE}`)

const rowsIn = <Row>(lines: Buffer): Row[] =>
  lines
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row)

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** The last line of a file that may be damaged; empty where it cannot be read to its end. */
async function lastLine(path: string): Promise<string> {
  let tail = ''
  const lines = createReadStream(path)
    .on('error', (error) => lines.destroy(error))
    .pipe(createGunzip())
  try {
    for await (const chunk of lines) {
      const text = tail + String(chunk)
      const end = text.lastIndexOf('\n', text.length - 2)
      tail = text.slice(end + 1)
    }
  } catch (error) {
    if (isMissing(error)) throw missing(path, error)
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error
    return ''
  }
  return tail
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r').catch((error) => {
    throw isMissing(error) ? missing(path, error) : error
  })
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

const missing = (path: string, cause: unknown) =>
  new GazewayError(
    'store_corrupt',
    `The archive ${path} is missing. ${ADVICE} If the folder was moved, name its place with ` +
      '`gazeway store archive --to FOLDER`.',
    { cause },
  )

async function bytesAt(file: FileHandle, at: number, length: number, path: string): Promise<Buffer> {
  if (length <= 0) throw changed(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
  if (bytesRead !== length) throw changed(path)
  return buffer
}

async function plain(bytes: Buffer, path: string): Promise<Buffer> {
  return decompress(bytes).catch((cause) => {
    throw new GazewayError('store_corrupt', `The archive ${path} was changed after it was sealed. ${ADVICE}`, { cause })
  })
}
