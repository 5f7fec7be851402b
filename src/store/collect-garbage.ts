import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Collects garbage now, which stops this process meanwhile: for commands, not for a service. The driver in
 * `@photostructure/sqlite` keeps the file of a closed connection open until the connection's statements are collected, and
 * Windows renames no file that is open.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
}
