import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { makeFolder } from '../store/make-folder.ts'
import { notWritten, replaceFile } from '../store/replace-file.ts'
import { WrittenSetting } from './setting.ts'
import { type FormatName, SETTING_FORMATS } from './setting-format.ts'

/** SHA-256 of a file, in hexadecimal. */
const Sum = z.string().regex(/^[0-9a-f]{64}$/)

/** A file of an agent as it was written, with what undoes it. */
export const ConnectedFile = z.strictObject({
  path: z.string().min(1),
  format: z.enum(Object.keys(SETTING_FORMATS) as [FormatName, ...FormatName[]]),
  /** The file with the settings. */
  after: Sum,
  /** The file before, which is in its backup. Null when there was none. */
  before: Sum.nullable(),
  settings: z.array(WrittenSetting),
})
export type ConnectedFile = z.infer<typeof ConnectedFile>

/** An agent that was connected, for all projects of a person or for one. */
export const Connection = z.strictObject({
  agent: z.string().min(1),
  /** Folder of the project; null for all projects. */
  project: z.string().nullable(),
  url: z.string().min(1),
  /** Id of the key that was made for it. Null for a key that was given. */
  key_id: z.string().nullable(),
  files: z.array(ConnectedFile),
})
export type Connection = z.infer<typeof Connection>

/** Files of one connection in the data folder. */
export interface ConnectionFiles {
  record: string
  key: string
}

/** Places of a connection's files. */
export function connectionFiles(dataDir: string, agent: string, project: string | null): ConnectionFiles {
  const name = project === null ? agent : `${agent}-${sumOf(project).slice(0, 12)}`
  const path = join(dataDir, 'connect', name)
  return { record: `${path}.json`, key: `${path}.key` }
}

/** Reads a connection. Null when there is none. @throws GazewayError `config_invalid` for a damaged record */
export function readConnection({ record }: ConnectionFiles): Connection | null {
  if (!existsSync(record)) return null
  try {
    return Connection.parse(JSON.parse(readFileSync(record, 'utf8')))
  } catch (cause) {
    throw new GazewayError(
      'config_invalid',
      `${record} is damaged. Undo the connection by hand, then delete the file.`,
      {
        cause,
      },
    )
  }
}

/** Reads the key of a connection. Null when there is none. */
export const readKey = ({ key }: ConnectionFiles): string | null =>
  existsSync(key) ? readFileSync(key, 'utf8').trim() : null

/** Keeps a connection and its key. @throws GazewayError `store_unavailable` or `store_full` */
export async function keepConnection(files: ConnectionFiles, connection: Connection, key: string): Promise<void> {
  await keep(files.key, key)
  await keep(files.record, `${JSON.stringify(connection, null, 2)}\n`)
}

/** Forgets a connection and its key. */
export function forgetConnection({ record, key }: ConnectionFiles): void {
  for (const path of [key, record]) rmSync(path, { force: true })
}

/** SHA-256 in hexadecimal. */
export const sumOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

async function keep(path: string, content: string): Promise<void> {
  try {
    makeFolder(join(path, '..'))
    await replaceFile(path, content)
  } catch (error) {
    throw error instanceof GazewayError ? error : notWritten(error, path)
  }
}
