/** Folders that are never part of a project's own text. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules'])

const SKIPPED = new RegExp(`(^|/)(${[...SKIPPED_FOLDERS].map((name) => name.replace('.', '\\.')).join('|')})(/|$)`)

/** Tells whether a file, by its path from the root, is in none of those folders. */
export function isProjectFile(path: string): boolean {
  return !SKIPPED.test(path)
}
