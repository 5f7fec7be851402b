import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { isMissing } from '../text/missing-file.ts'
import { CatalogueFile } from './catalogue-file.ts'

/** A catalogue in the data folder, and its origin. */
export const DownloadedCatalogue = z.strictObject({
  /** URL or file that it was read from. */
  address: z.string(),
  /** SHA-256 of what was read, hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  stored_at: z.iso.datetime(),
  catalogue: CatalogueFile,
})
export type DownloadedCatalogue = z.infer<typeof DownloadedCatalogue>

/** File of the downloaded catalogue in a data folder. */
export const downloadedFile = (dataDir: string): string => join(dataDir, 'prices.json')

let inUse: DownloadedCatalogue | null = null

/** The catalogue of the data folder that this process uses. Null when it has none. */
export const downloadedCatalogue = (): DownloadedCatalogue | null => inUse

/**
 * Puts the downloaded catalogue of a data folder into use, if it has one. A process does so once, when it starts.
 *
 * @throws GazewayError `config_invalid` for a file that `gazeway prices update` did not write
 */
export function useDownloaded(dataDir: string): DownloadedCatalogue | null {
  inUse = readDownloaded(downloadedFile(dataDir))
  return inUse
}

function readDownloaded(file: string): DownloadedCatalogue | null {
  const text = textOf(file)
  if (text === null) return null
  const read = DownloadedCatalogue.safeParse(jsonIn(text))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new GazewayError(
    'config_invalid',
    `${file}: ${issue?.path.join('.') || 'the file'}: ${issue?.message}. Run gazeway prices update again, or delete the file to use the shipped prices.`,
  )
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw new GazewayError('config_invalid', `${file}: cannot be read (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    })
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
