/** Folders that never count as project files. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules'])

const SKIPPED = new RegExp(`(^|/)(${[...SKIPPED_FOLDERS].map((name) => name.replace('.', '\\.')).join('|')})(/|$)`)

/** Returns true for a file outside the skipped folders. @param path path of the file, relative to the root */
export function isProjectFile(path: string): boolean {
  return !SKIPPED.test(path)
}
