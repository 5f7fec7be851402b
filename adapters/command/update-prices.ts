import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { LoadedConfig } from '../../src/config/config.ts'
import { GazewayError } from '../../src/errors.ts'
import type { CatalogueFile } from '../../src/providers/catalogue-file.ts'
import { changesIn, type Fall, fallsIn, readCatalogue } from '../../src/providers/check-catalogue.ts'
import {
  type DownloadedCatalogue,
  downloadedCatalogue,
  downloadedFile,
  useDownloaded,
} from '../../src/providers/downloaded-catalogue.ts'
import { loadShippedCatalogue, shippedCatalogue } from '../../src/providers/shipped-catalogue.ts'
import { makeFolder } from '../../src/store/make-folder.ts'
import { notWritten, replaceFile } from '../../src/store/replace-file.ts'
import { toUsd } from '../../src/text/money.ts'
import { networkFetch } from '../../src/wire/network-fetch.ts'

/** Data of genai-prices (MIT), which others keep up to date. */
export const GENAI_PRICES = 'https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json'
/** Size limit of a catalogue, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024
/** Time limit of a download, in milliseconds. */
const DOWNLOAD_MS = 60_000
/** Falling prices that an error names. */
const NAMED = 5

/**
 * Stores a newer catalogue of prices in the data folder, after it has been checked.
 *
 * @param flags.from URL or file; genai-prices by default
 * @param flags.force true to store prices that fall by more than 90 % or to 0
 * @throws GazewayError `validation_failed` for a file that is broken, of another shape, older than the one in use, or
 *   with such falls; `upstream_unreachable` for an address that does not answer
 */
export async function updatePrices(
  { dataDir }: LoadedConfig,
  { from = GENAI_PRICES, force = false }: { from?: string; force?: boolean },
  now: Date,
): Promise<void> {
  await loadShippedCatalogue()
  // A broken file in use must not keep its successor out.
  const before = downloadedOf(dataDir)
  const shipped = shippedCatalogue() as CatalogueFile
  const inUse = before !== null && before.catalogue.date >= shipped.date ? before.catalogue : shipped
  const { address, text, date } = await read(from, now)
  const catalogue = readCatalogue(text, { date, source: address })
  if (catalogue.date < inUse.date)
    throw refused(`it is of ${catalogue.date}, and the prices in use are of ${inUse.date}`)
  const falls = fallsIn(catalogue, before === null ? [shipped] : [shipped, before.catalogue])
  if (falls.length > 0 && !force) throw refused(`${fallText(falls)}. Check them, then add --force to store it`)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const stored: DownloadedCatalogue = { address, sha256, stored_at: now.toISOString(), catalogue }
  makeFolder(dataDir)
  const file = downloadedFile(dataDir)
  await replaceFile(file, JSON.stringify(stored)).catch((error: unknown) => {
    throw error instanceof GazewayError ? error : notWritten(error, file)
  })
  const { added, changed, gone } = changesIn(catalogue, inUse)
  process.stdout.write(
    `Stored the prices of ${catalogue.date} in ${file}: ${added} models are new, ${changed} changed, ${gone} are gone.\nSHA-256 ${sha256} of ${address}\nGateways that run use them once they are started again.\n`,
  )
}

function downloadedOf(dataDir: string): DownloadedCatalogue | null {
  try {
    return useDownloaded(dataDir)
  } catch {
    return downloadedCatalogue()
  }
}

/** Reads a URL or a file. Its day is that of the download, or that on which the file was changed. */
async function read(from: string, now: Date): Promise<{ address: string; text: string; date: string }> {
  if (/^https?:\/\//.test(from)) return { address: from, text: await download(from), date: dayOf(now) }
  const file = resolve(from)
  try {
    const { size, mtime } = await stat(file)
    if (size > MAX_BYTES) throw refused(`it is larger than ${MAX_BYTES} bytes`)
    return { address: file, text: await readFile(file, 'utf8'), date: dayOf(mtime) }
  } catch (cause) {
    if (cause instanceof GazewayError) throw cause
    throw new GazewayError(
      'validation_failed',
      `--from: ${file} cannot be read (${(cause as { code?: string }).code}).`,
      {
        param: '--from',
        cause,
      },
    )
  }
}

async function download(url: string): Promise<string> {
  const reply = await networkFetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) }).catch((cause: unknown) => {
    throw new GazewayError('upstream_unreachable', `--from: no answer from ${new URL(url).host}: check the network.`, {
      cause,
    })
  })
  if (!reply.ok) throw refused(`${new URL(url).host} answered ${reply.status}`)
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of reply.body ?? []) {
    bytes += part.byteLength
    if (bytes > MAX_BYTES) throw refused(`it is larger than ${MAX_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

const refused = (why: string): GazewayError =>
  new GazewayError('validation_failed', `--from: not stored: ${why}.`, { param: '--from' })

function fallText(falls: readonly Fall[]): string {
  const named = falls
    .slice(0, NAMED)
    .map(
      ({ vendor, model, kind, before, after }) =>
        `${vendor}/${model} ${kind} from ${toUsd(before)} to ${toUsd(after)} USD`,
    )
  const more = falls.length > NAMED ? `, and ${falls.length - NAMED} more` : ''
  return `prices fall by more than 90 % or to 0: ${named.join(', ')}${more}`
}
