import { join } from 'node:path'
import { openStore } from '../src/store/open-store.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { bytesOfRecord } from '../test/gaze/bytes.ts'
import { measureAdversaries } from './adversary-tries.ts'
import { temporaryFolder } from './folder.ts'
import type { Report } from './report.ts'

/** Attention that somebody made up, and how often it passes: what each level is worth. */
export async function section(report: Report): Promise<void> {
  for (const measure of await measureAdversaries({ folder: temporaryFolder('adversaries') })) report.add(measure)
  await measureBytes(report)
}

/** Bytes that a record takes in the store, with its hashes and indexes. */
async function measureBytes(report: Report): Promise<void> {
  const server = await startPostgres()
  process.once('exit', () => void server.stop())
  const urls = {
    SQLite: `sqlite:${join(temporaryFolder('adversaries'), 'bytes.db')}`,
    PostgreSQL: await server.database(),
  }
  for (const [engine, url] of Object.entries(urls)) {
    const store = await openStore(url)
    const what = `a gaze record in the store, of 100,000: ${engine}`
    report.add({ what, unit: 'bytes', figure: await bytesOfRecord(store, 100), bar: { atMost: 300 } })
    await store.close()
  }
  await server.remove()
}
