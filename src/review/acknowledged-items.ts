import { type Item, itemDigest } from './change-parts.ts'
import { pathName } from './path-name.ts'
import type { ChangedPath, Entry } from './raw-change.ts'

/** Creates an item for the modes of a path alone, so that it keeps its digest when the content moves on. */
export const modeItem = ({ path, old, new: now }: ChangedPath): Item =>
  item('mode', path, `${old?.mode ?? NONE} → ${now?.mode ?? NONE}`)

/** Creates an item for the content of a path. */
export const contentItem = (
  kind: Exclude<Item['kind'], 'deleted' | 'mode' | 'moved'>,
  { path, old, new: now }: ChangedPath,
): Item => item(kind, path, `${inWords(old)} → ${inWords(now)}`)

/** Creates an item for a file of text that is gone: its hunks are those of one whose lines were all removed. */
export const deletedItem = ({ path, old }: ChangedPath): Item => item('deleted', path, `${old?.mode ?? NONE} → ${NONE}`)

/** Creates an item for a file that went from one path to another, with its mode and its content. */
export const movedItem = (from: ChangedPath, to: ChangedPath): Item =>
  item('moved', to.path, inWords(to.new), { from: pathName(from.path) })

function item(kind: Item['kind'], path: string, detail: string, more: { from?: string } = {}): Item {
  const content = { kind, path: pathName(path), detail, ...more }
  return { ...content, digest: itemDigest(content), lines: 1 }
}

const NONE = 'none'

const inWords = (entry: Entry | null): string => (entry === null ? NONE : `${entry.mode} ${entry.oid}`)
