import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder in the system's temporary one; it is removed when this process exits. */
export function temporaryFolder(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `gazeway-bench-${name}-`)))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
