import { randomInt } from 'node:crypto'
import { type Hunk, hunkDigest, type Part, type Row } from './change-parts.ts'

/** Unchanged lines between the file's last hunk and the canary: as many as keep hunks apart. */
const GAP = 7
/** Lines of other hunks that make a canary: it looks like code at a glance. */
const BORROWED = 6

/** The line that tells a reader. Nobody is asked to know the repository. */
export const CANARY_LINE = 'This hunk checks attention and is not part of the change: mark it.'

/** A hunk that is not in the change, and the index of the part that it is shown after. */
export interface Canary {
  hunk: Hunk
  after: number
}

/**
 * Makes a hunk that is not in the change, at random, of lines that the change adds elsewhere. It stands below the last
 * hunk of a file, where it shares no line with another one.
 *
 * @returns null for a change without added lines
 */
export function canaryOf(parts: readonly Part[]): Canary | null {
  const hosts = parts.flatMap((part, index) => (isLastOfFile(parts, index) && addsLines(part) ? [index] : []))
  const after = hosts[randomInt(Math.max(1, hosts.length))]
  const host = after === undefined ? undefined : parts[after]
  if (after === undefined || host?.kind !== 'hunk') return null
  const others = parts.filter((part): part is Hunk => addsLines(part) && part !== host)
  const from = others[randomInt(Math.max(1, others.length))] ?? host
  const borrowed = from.rows.filter(({ kind }) => kind === '+').slice(0, BORROWED)
  const rows = rowsOf(borrowed, host)
  const { path } = host
  const lines = rows.filter(({ kind }) => kind === '+').length
  return { after, hunk: { kind: 'hunk', path, digest: hunkDigest(path, rows), lines, rows } }
}

const addsLines = (part: Part): part is Hunk => part.kind === 'hunk' && part.rows.some(({ kind }) => kind === '+')

const isLastOfFile = (parts: readonly Part[], index: number): boolean => parts[index + 1]?.path !== parts[index]?.path

/** Puts the line that tells a reader in the middle of borrowed ones, below the host. */
function rowsOf(borrowed: readonly Row[], host: Hunk): Row[] {
  const indent = /^\s*/.exec(borrowed.at(-1)?.text ?? '')?.[0].replace('\n', '') ?? ''
  const middle = Math.ceil(borrowed.length / 2)
  const texts = borrowed.map(({ text }) => text.replace(/\n?$/, '\n')).toSpliced(middle, 0, `${indent}${CANARY_LINE}\n`)
  const next = 1 + GAP + Math.max(...host.rows.map((row) => Math.max(row.new ?? 0, row.old ?? 0)))
  return texts.map((text, index) => ({ kind: '+', text, old: null, new: next + index }))
}
