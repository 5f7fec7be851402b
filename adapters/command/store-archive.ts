import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LoadedConfig } from '../../src/config/config.ts'
import { fromHome } from '../../src/config/environment.ts'
import { gatewaySigner } from '../../src/signing/gateway-keys.ts'
import { requireUpToDate } from '../../src/store/existing-store.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { type Archived, archiveMonths } from '../../src/wallet/archive/archive-months.ts'
import { archiveFile } from '../../src/wallet/archive/read-archive.ts'
import { requireStore } from './require-store.ts'

/** Months, this one among them, that stay in the store by default. */
const STAY_MONTHS = 13
/** Free pages of a SQLite file that are given back at a time. */
const PAGES = 64

/** Flags of `gazeway store archive`. */
export interface ArchiveFlags {
  before?: string
  to?: string
  json?: boolean
}

/** Archives the months before a bound while services run, and gives the disk space back. Prints what was done. */
export async function archive(loaded: LoadedConfig, { before, to, json = false }: ArchiveFlags): Promise<void> {
  requireStore(loaded)
  await requireUpToDate(loaded.storeUrl)
  const store = await openStore(loaded.storeUrl)
  try {
    const now = () => new Date()
    const done = await archiveMonths(store, {
      before: before ?? defaultBound(now()),
      folder: to === undefined ? join(loaded.dataDir, 'archives') : resolve(fromHome(to)),
      isNamed: to !== undefined,
      signer: await gatewaySigner(loaded.dataDir, now()),
      now,
      ...(!json && { onMonth: (month) => process.stderr.write(`Sealing ${month}…\n`) }),
    })
    if (done.deleted > 0) await shrink(store)
    process.stdout.write(json ? `${JSON.stringify(asJson(done))}\n` : inWords(done))
  } finally {
    await store.close()
  }
}

/** The month from which on all stay: `2025-11` in November 2026. */
function defaultBound(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - STAY_MONTHS + 1, 1)).toISOString().slice(0, 7)
}

async function shrink(store: Store): Promise<void> {
  for (let began = performance.now(); await store.shrink(PAGES); began = performance.now())
    // For as long as it took, so that others write meanwhile.
    await delay(performance.now() - began)
}

const asJson = ({ folder, sealed, deleted, stays }: Archived) => ({
  folder,
  sealed: sealed.map((row) => ({
    month: row.month,
    file: archiveFile(folder, row.month),
    sha256: row.sha256,
    bytes: row.bytes,
    transfers: row.transfers,
    receipts: row.receipts,
  })),
  deleted_rows: deleted,
  stays,
})

function inWords({ folder, sealed, deleted, stays }: Archived): string {
  const lines = sealed.map(
    ({ month, transfers, receipts, bytes }) =>
      `${archiveFile(folder, month)}: transfers ${transfers}, receipts ${receipts}, ${bytes} bytes`,
  )
  if (sealed.length === 0) lines.push('No month was sealed.')
  lines.push(`Rows deleted from the store, which the archives hold: ${deleted}.`)
  if (stays) lines.push(`${stays.month} and later months stay in the store. ${stays.month} has ${stays.reason}.`)
  return `${lines.join('\n')}\n`
}
