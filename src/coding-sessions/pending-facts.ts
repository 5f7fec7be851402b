import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { LONGEST_SESSION_ID } from '../calls/call-session.ts'
import { makeFolder } from '../store/make-folder.ts'
import { replaceFile } from '../store/replace-file.ts'
import { parseJson } from '../text/json.ts'
import { nullIfMissing } from '../text/missing-file.ts'
import { addressOf } from '../text/repository-name.ts'
import { SessionFacts } from './session-facts.ts'

/**
 * Facts of sessions that no gateway has taken yet: a file each, in the data folder. Hooks write them; the next hook of
 * the session sends them, or a gateway on this data folder reads them.
 */

/** Most files. Facts beyond are dropped: nothing reads the folder. */
const MOST_FILES = 2000

const Pending = z.object({ session_id: z.string().min(1).max(LONGEST_SESSION_ID), facts: SessionFacts })

/** Facts in a file. */
export interface PendingFacts {
  file: string
  sessionId: string
  facts: SessionFacts
}

/** Writes facts for a session, oldest first. */
export async function writePending(
  dataDir: string,
  sessionId: string,
  facts: readonly SessionFacts[],
  now: Date,
): Promise<void> {
  if (facts.length === 0) return
  const folder = pendingFolder(dataDir)
  makeFolder(folder)
  const room = MOST_FILES - (await readdir(folder)).length
  const at = now.getTime().toString().padStart(15, '0')
  const id = randomBytes(4).toString('hex')
  for (const [i, part] of facts.slice(0, Math.max(0, room)).entries()) {
    const name = `${at}-${String(i).padStart(3, '0')}-${digestOf(sessionId)}-${id}.json`
    await replaceFile(join(folder, name), `${JSON.stringify({ session_id: sessionId, facts: factsToSend(part) })}\n`)
  }
}

/** Facts as they are said, whose repository has its address. */
export function factsToSend(facts: SessionFacts): SessionFacts {
  const { repository } = facts
  return repository === undefined ? facts : { ...facts, repository: addressOf(repository) }
}

/** Reads the pending facts, oldest first; of one session where its id is given. Removes files that are none. */
export async function readPending(dataDir: string, sessionId?: string): Promise<PendingFacts[]> {
  const folder = pendingFolder(dataDir)
  const names = ((await readdir(folder).catch(nullIfMissing)) ?? []).filter((name) => name.endsWith('.json')).sort()
  const wanted = sessionId === undefined ? names : names.filter((name) => name.includes(`-${digestOf(sessionId)}-`))
  const found: PendingFacts[] = []
  for (const name of wanted) {
    const file = join(folder, name)
    const text = await readFile(file, 'utf8').catch(nullIfMissing)
    if (text === null) continue
    const pending = Pending.safeParse(parseJson(text))
    if (!pending.success) await removePending(file)
    else found.push({ file, sessionId: pending.data.session_id, facts: pending.data.facts })
  }
  return found
}

/** Removes facts that are noted, or that no gateway will take. */
export const removePending = (file: string): Promise<void> => rm(file, { force: true })

const pendingFolder = (dataDir: string): string => join(dataDir, 'coding-sessions', 'pending')

/** Ids are their client's word, and no names of files. */
const digestOf = (sessionId: string): string => createHash('sha256').update(sessionId).digest('hex').slice(0, 16)
