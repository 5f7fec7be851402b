import { GazewayError } from '../errors.ts'

/** Content of a tree at a path. */
export interface Entry {
  mode: string
  oid: string
}

/** One changed path between two trees. */
export interface ChangedPath {
  /** Bytes of the path, each as one character: git does not say which encoding a path has. */
  path: string
  /** Null where the tree has nothing at the path. */
  old: Entry | null
  new: Entry | null
}

const HEADER = /^:(\d{6}) (\d{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]\d*$/

/**
 * Reads the output of `git diff-tree -r --raw --no-abbrev --no-renames -z`.
 *
 * @throws GazewayError `internal_error` where git printed something else
 */
export function parseRawChange(output: Buffer): ChangedPath[] {
  const fields = output.toString('latin1').split('\0')
  const changed: ChangedPath[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, oldMode, newMode, oldOid, newOid] = HEADER.exec(fields[at] ?? '') ?? []
    const path = fields[at + 1]
    if (!oldMode || !newMode || !oldOid || !newOid || !path)
      throw new GazewayError('internal_error', 'git diff-tree printed a change in a form that Gazeway does not know.')
    changed.push({ path, old: entry(oldMode, oldOid), new: entry(newMode, newOid) })
  }
  return changed
}

const entry = (mode: string, oid: string): Entry | null => (mode === '000000' ? null : { mode, oid })
