import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { TESTS } from '../../scripts/bundle-tests.ts'

/**
 * Arguments with which Node runs a script: as `npm test` has bundled it, or else compiled by tsx, which takes seconds.
 *
 * @param file path of its source in the project
 */
export function scriptArgs(file: string): string[] {
  const bundled = resolve(TESTS, file.replace(/\.ts$/, '.js'))
  return existsSync(bundled) ? [bundled] : ['--import', 'tsx', file]
}
