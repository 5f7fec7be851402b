import type { Attention } from './file-attention.ts'
import type { ScoredFile } from './score.ts'

const CHANGES: Record<string, string> = { conflicted: 'in conflict', untracked: 'new, untracked' }

/** Lists the reasons for a file's weight, the strongest kind first. */
export function whyFile(file: ScoredFile, commits: number, now: Date): string[] {
  const { attention, change, terms } = file
  return [
    terms.focusDistance === 0 && 'focus',
    terms.match > 0 && 'matches the query',
    attention && attended(attention, now),
    change && (CHANGES[change] ?? `${change}, uncommitted`),
    terms.commitRanks.length > 0 && `changed in ${terms.commitRanks.length} of the last ${commits} commits`,
    terms.focusDistance !== null && terms.focusDistance > 0 && 'near the focus',
    terms.landmark && 'describes the project',
    terms.referred > 0 && 'other files refer to it',
  ].filter((reason) => typeof reason === 'string')
}

/** Signals of interest from the files inside a directory. */
export interface Inside {
  attention: Attention | null
  changes: number
  focus: boolean
}

/** Lists the reasons for a directory's weight, from the files inside it. */
export function whyDirectory({ attention, changes, focus }: Inside, now: Date): string[] {
  const reasons = [
    focus && 'focus',
    attention && attended(attention, now, ' inside'),
    changes > 0 && `${changes} uncommitted ${changes === 1 ? 'change' : 'changes'} inside`,
  ].filter((reason) => typeof reason === 'string')
  return reasons.length > 0 ? reasons : ['holds places of interest']
}

/** "4.2 s of attention, 3 min ago" */
export function attended({ dwellMs, lastSeenAt }: Attention, now: Date, where = ''): string {
  return `${duration(dwellMs)} of attention${where}, ${ago(now.getTime() - Date.parse(lastSeenAt))}`
}

function duration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  return `${(ms / 3_600_000).toFixed(1)} h`
}

function ago(ms: number): string {
  if (ms < 60_000) return 'just now'
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`
  if (ms < 48 * 3_600_000) return `${Math.floor(ms / 3_600_000)} h ago`
  return `${Math.floor(ms / 86_400_000)} days ago`
}
