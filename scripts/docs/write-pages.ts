import { writeFileSync } from 'node:fs'
import { generatedPages } from './pages.ts'

/**
 * Writes the generated pages that are behind their sources.
 *
 * @returns the files that were written
 */
export function writeGeneratedPages(): string[] {
  const stale = generatedPages().filter(({ found, expected }) => found !== expected)
  for (const { file, expected } of stale) writeFileSync(file, expected)
  return stale.map(({ file }) => file)
}
