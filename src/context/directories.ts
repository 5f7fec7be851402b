import { type Inside, whyDirectory } from './file-reasons.ts'
import type { Layout } from './folder-structure.ts'
import { focusInterest, weightOf } from './interest.ts'
import type { ScoredFile } from './score.ts'
import { type Place, signalsOf } from './work-context.ts'

interface Directory extends Inside {
  interest: number
}

/**
 * Creates the directories of a layout, as places without children. A directory has the highest weight of its parts and
 * the sum of their attention.
 *
 * @param files files with interest
 * @param options.most the highest interest of the context, see {@link weightOf}
 */
export function createDirectories(
  files: readonly ScoredFile[],
  { layout, focus, now, most }: { layout: Layout; focus: string | null; now: Date; most: number },
): (path: string) => Place {
  const directories = new Map<string, Directory>()
  for (const file of files) {
    for (let end = file.path.lastIndexOf('/'); end > 0; end = file.path.lastIndexOf('/', end - 1)) {
      const path = file.path.slice(0, end)
      const known = directories.get(path)
      const directory = known ?? { interest: 0, attention: null, changes: 0, focus: path === focus }
      if (!known) directories.set(path, directory)
      addFile(directory, file)
    }
  }

  return function directory(path) {
    const inside = directories.get(path) ?? { interest: 0, attention: null, changes: 0, focus: path === focus }
    const interest = Math.max(inside.interest, inside.focus ? focusInterest(0) : 0)
    return {
      path,
      kind: 'directory',
      weight: weightOf(interest, most),
      why: weightOf(interest) > 0 ? whyDirectory(inside, now) : ['top level'],
      signals: signalsOf({ size: layout.filesBelow.get(path) ?? 0 }),
    }
  }
}

function addFile(directory: Directory, { interest, attention, change }: ScoredFile): void {
  directory.interest = Math.max(directory.interest, interest)
  if (change) directory.changes += 1
  if (!attention) return
  const known = directory.attention
  directory.attention = {
    dwellMs: (known?.dwellMs ?? 0) + attention.dwellMs,
    decayedMs: (known?.decayedMs ?? 0) + attention.decayedMs,
    lastSeenAt: known && known.lastSeenAt > attention.lastSeenAt ? known.lastSeenAt : attention.lastSeenAt,
  }
}
