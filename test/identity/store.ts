import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'

const made: string[] = []
const opened: Store[] = []
after(async () => {
  await Promise.all(opened.map((store) => store.close()))
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** A new empty folder, removed when the test file is done. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-identity-'))
  made.push(folder)
  return folder
}

/** The store in a folder, closed when the test file is done. */
export async function storeIn(folder: string): Promise<Store> {
  const store = await openStore(`sqlite:${join(folder, 'gazeway.db')}`)
  opened.push(store)
  return store
}
