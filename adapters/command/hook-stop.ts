import { constants, existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import * as z from 'zod'
import { GazewayError } from '../../src/errors.ts'
import { answerHook, hookInput } from './hook-input.ts'

/** Bytes read from the end of a transcript. */
const READ_BYTES = 16 << 20

/** Question to Claude, asked once per session. A transcript that contains its first words shows that it was asked. */
const OFFER =
  'Gazeway offers to remember. If this session has shown something that a later one needs (a decision and its reason, a ' +
  'pitfall, where something is), name it in one sentence and ask whether to store it with gateway_memory_store. Store ' +
  'nothing without a yes; then give other words for it in `also`, and update or supersede what `similar` names. If there is nothing of the kind, end without a word about it.'
const OFFERED = OFFER.slice(0, 29)

const CHANGES_FILES = /"name":\s?"(?:Edit|MultiEdit|Write|NotebookEdit)"/
const STORES = /"name":\s?"[\w-]*gateway_memory_store"/

const Stopped = z.object({ transcript_path: z.string(), stop_hook_active: z.boolean().default(false) })

/**
 * Makes Claude Code offer to store what was learned. Asks once per session, and only when the session changed files and
 * stored nothing itself.
 */
export async function answerStop(): Promise<void> {
  const { transcript_path: path, stop_hook_active: isAnswering } = await hookInput(Stopped)
  if (isAnswering || !existsSync(path) || !(await shouldOffer(path))) return
  answerHook({ decision: 'block', reason: OFFER })
}

async function shouldOffer(path: string): Promise<boolean> {
  const text = await endOf(path)
  return CHANGES_FILES.test(text) && !STORES.test(text) && !text.includes(OFFERED)
}

/**
 * Reads the end of a transcript.
 *
 * @throws GazewayError `invalid_json` for a pipe or a device, which may never end
 */
async function endOf(path: string): Promise<string> {
  // Opening a pipe without this flag waits for a writer. Windows has no such flag, and no such pipes.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const info = await file.stat()
    if (!info.isFile()) throw new GazewayError('invalid_json', 'transcript_path: must be a regular file.')
    const start = Math.max(0, info.size - READ_BYTES)
    const bytes = Buffer.alloc(info.size - start)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
    return bytes.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
