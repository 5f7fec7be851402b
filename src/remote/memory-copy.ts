import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { Memory } from '../memory/memory.ts'
import { makeFolder } from '../store/make-folder.ts'
import { replaceFile } from '../store/replace-file.ts'
import { parseJson } from '../text/json.ts'

/** Memories of a copy at most, and their bytes as JSON. */
export const MOST_COPIED = 1000
const MOST_BYTES = 4 * 1024 * 1024

/** The memories of a remote as they were, the last stored first. */
export const MemoryCopy = z.object({
  saved_at: z.string(),
  memories: z.array(Memory),
  /** Ids of the newest memories whose writers the remote trusts. */
  trusted: z.array(z.string()),
})
export type MemoryCopy = z.infer<typeof MemoryCopy>

/** Returns the file of a remote's copy. Copies of two keys differ, since keys see different memories. */
export function copyFileOf(dataDir: string, url: string, key: string | null): string {
  const name = createHash('sha256')
    .update(JSON.stringify([url, key]))
    .digest('hex')
    .slice(0, 40)
  return join(dataDir, 'remote', `${name}.json`)
}

/** Reads a copy; null without a whole one. */
export async function readCopy(file: string): Promise<MemoryCopy | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return MemoryCopy.safeParse(parseJson(text)).data ?? null
}

/** Replaces a copy, readable by this user only. Keeps the memories stored last, up to 4 MiB. */
export async function writeCopy(file: string, copy: MemoryCopy): Promise<void> {
  let bytes = 0
  const memories = copy.memories.filter((memory) => {
    bytes += Buffer.byteLength(JSON.stringify(memory))
    return bytes <= MOST_BYTES
  })
  makeFolder(dirname(file))
  await replaceFile(file, JSON.stringify({ ...copy, memories }))
}
