import { createHash } from 'node:crypto'
import { pathName } from './path-name.ts'
import type { ChangedPath, Entry } from './raw-change.ts'

/** Kinds of changes of a path without lines to read. */
export type ItemKind = 'binary' | 'empty' | 'large' | 'mode' | 'moved' | 'submodule'

/** A part of a change without lines, which a reviewer acknowledges. */
export interface Item {
  kind: ItemKind
  /** Path for people, see `pathName`. */
  path: string
  /** sha256 of the kind, the paths and what changed, in hex. */
  digest: string
  /** An item counts as one line. */
  lines: 1
  /** The change in short, for people: `100644 → 100755`. */
  detail: string
  /** Former path of a moved file, for people. */
  from?: string
}

/** Creates an item for the modes of a path alone, so that it keeps its digest when the content moves on. */
export function modeItem({ path, old, new: now }: ChangedPath): Item {
  const modes = [old?.mode ?? 'none', now?.mode ?? 'none']
  return item('mode', [path, ...modes], modes.join(' → '))
}

/** Creates an item for the content of a path. */
export function contentItem(kind: Exclude<ItemKind, 'mode' | 'moved'>, { path, old, new: now }: ChangedPath): Item {
  return item(kind, [path, said(old), said(now)], `${shown(old)} → ${shown(now)}`)
}

/** Creates an item for a file that went from one path to another, with its mode and its content. */
export function movedItem(from: ChangedPath, to: ChangedPath): Item {
  const former = pathName(from.path)
  return { ...item('moved', [to.path, from.path, said(to.new)], `from ${former}`), from: former }
}

function item(kind: ItemKind, [path = '', ...rest]: string[], detail: string): Item {
  const digest = createHash('sha256').update(`gazeway-item-1\0${[kind, path, ...rest].join('\0')}`, 'latin1')
  return { kind, path: pathName(path), digest: digest.digest('hex'), lines: 1, detail }
}

const said = (entry: Entry | null): string => (entry === null ? 'none' : `${entry.mode} ${entry.oid}`)

const shown = (entry: Entry | null): string => (entry === null ? 'none' : entry.oid.slice(0, 12))
