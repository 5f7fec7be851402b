import { createReadStream, existsSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import * as z from 'zod'
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
  const start = Math.max(0, statSync(path).size - READ_BYTES)
  let hasChanged = false
  for await (const line of createInterface({ input: createReadStream(path, { start }) })) {
    if (line.includes(OFFERED) || STORES.test(line)) return false
    hasChanged ||= CHANGES_FILES.test(line)
  }
  return hasChanged
}
