import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../contract/postgres-server.ts'
import { dump } from './dump.ts'
import { DIGESTS_FILE, digestOf, dumpFile, landedDigests, STEPS } from './landed.ts'
import { openOn, tellStory } from './landed-story.ts'

/**
 * `npm run dump-store` keeps a store of this code, and the digest, of each migration that has none. `npm run dump-store
 * NAME` does so again for a migration that has not landed yet.
 */

const digests = landedDigests()
const again = process.argv.slice(2)
const wanted = STEPS.filter((step) => !(step in digests) || again.includes(step))
const folder = mkdtempSync(join(tmpdir(), 'gazeway-dump-'))
const server = await startPostgres()
try {
  const urls = { sqlite: `sqlite:${join(folder, 'store.db')}`, postgres: await server.database() }
  for (const engine of ['sqlite', 'postgres'] as const) {
    const gateway = await openOn(urls[engine], folder)
    await tellStory(gateway)
    const text = await dump(gateway.store)
    await gateway.close()
    for (const step of wanted) writeFileSync(dumpFile(step, engine), text)
  }
  const kept = Object.fromEntries(STEPS.map((step) => [step, wanted.includes(step) ? digestOf(step) : digests[step]]))
  writeFileSync(DIGESTS_FILE, `${JSON.stringify(kept, null, 2)}\n`)
} finally {
  await server.remove()
  rmSync(folder, { recursive: true })
}
console.log(`Kept a store of ${wanted.join(', ') || 'no migration: each has one'}.`)
