import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

const made: string[] = []
after(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** A new empty folder, removed when the test file is done. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-config-'))
  made.push(folder)
  return folder
}
