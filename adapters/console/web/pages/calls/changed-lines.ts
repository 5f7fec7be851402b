/** Line of a comparison. */
export interface Change {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Equal lines that are shown before and after a change. */
const AROUND = 3

/** Compares texts whose beginnings and ends are mostly equal, as the prompts of successive calls are. */
export function changedLines(from: string, to: string): Change[] {
  const [before, after] = [from.split('\n'), to.split('\n')]
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const lines = (kind: Change['kind'], of: string[]) => of.map((text): Change => ({ kind, text }))
  return [
    ...lines('same', after.slice(Math.max(0, start - AROUND), start)),
    ...lines('removed', before.slice(start, before.length - end)),
    ...lines('added', after.slice(start, after.length - end)),
    ...lines('same', after.slice(after.length - end, after.length - end + AROUND)),
  ]
}
