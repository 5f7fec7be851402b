import { rmSync } from 'node:fs'
import { type CallWriter, createCallWriter, storedIds } from '../../calls/call-writer.ts'
import type { QueuedCall } from '../../calls/queued-call.ts'
import { GazewayError } from '../../errors.ts'
import { lazily } from '../../lazily.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { lowerPresumed, presumeHeldBy } from '../budget/presumed-spending.ts'
import { recordUncharged } from '../receipts/failed-charges.ts'
import { type NotedCharge, writeRecorded } from '../receipts/store-receipts.ts'
import { listJournals, lockOf, type NotedCall, type ReadJournal, readJournal } from './journal-file.ts'

/** Calls written in one transaction. */
const BATCH = 200

const loadLock = lazily(() => import('../../store/sqlite/process-lock.ts'))

/** Dependencies of {@link recoverJournals}. */
export interface RecoverDeps {
  store: Store
  /** Folder of the journals. */
  folder: string
  /** Name of this process, whose journal is not read; null for a process without one. */
  own: string | null
  now: () => Date
  /** Calls of before this time may be deleted, so that nobody can tell whether they were counted. Null when none is. */
  keptSince: string | null
  onError: (error: unknown) => void
}

/** Result of a recovery: what journals of dead processes proved. */
export interface Recovered {
  /** Processes whose journals were read. */
  processes: number
  /** Calls that the store lacked. */
  calls: number
  /** Charges of calls whose answer did not end; their cost is recorded, and nobody pays it. */
  charges: number
  /** Amount that budgets have again, since it was not spent. */
  releasedMicros: Micros
}

/**
 * Counts what processes had not written when they died, and releases what they cannot have spent. Processes that live, and
 * those that are suspended, hold a lock, and are not read.
 *
 * Each call counts once, whenever this is interrupted: a journal is deleted after all of it is in the store, and what is
 * stored by then is found by the id of the call.
 */
export async function recoverJournals(deps: RecoverDeps): Promise<Recovered> {
  const sum: Recovered = { processes: 0, calls: 0, charges: 0, releasedMicros: 0 }
  const { lockFile } = await loadLock()
  for (const holder of listJournals(deps.folder).keys()) {
    if (holder === deps.own) continue
    const lockPath = lockOf(deps.folder, holder)
    const lock = lockFile(lockPath)
    if (lock === null) continue
    try {
      const paths = listJournals(deps.folder).get(holder) ?? []
      const journal = readJournal(paths)
      if (journal === null) continue
      const { calls, charges, releasedMicros } = await recoverOne(deps, holder, journal)
      for (const path of paths) rmSync(path)
      sum.processes += 1
      sum.calls += calls
      sum.charges += charges
      sum.releasedMicros += releasedMicros
    } finally {
      lock.release()
      if (!listJournals(deps.folder).has(holder)) rmSync(lockPath, { force: true })
    }
  }
  return sum
}

async function recoverOne(
  deps: RecoverDeps,
  holder: string,
  journal: ReadJournal,
): Promise<Omit<Recovered, 'processes'>> {
  const { store, now, keptSince } = deps
  // Gives the money of charged calls back first, so that nothing is charged for an answer that did not end.
  await presumeHeldBy(store, holder, now())
  const kept = journal.calls.filter(({ record }) => keptSince === null || record.at >= keptSince)
  const calls = await writeCalls(deps, kept)
  const charges = await writeCharges(store, journal.charges)
  const releasedMicros = journal.isWhole ? await releaseUnspent(store, holder, journal.out) : 0
  return { calls, charges, releasedMicros }
}

/** Writes the calls that the store lacks. @returns how many */
async function writeCalls({ store, onError }: RecoverDeps, noted: readonly NotedCall[]): Promise<number> {
  const write = createCallWriter(store, writeRecorded)
  let written = 0
  for (let at = 0; at < noted.length; at += BATCH) {
    const part = noted.slice(at, at + BATCH)
    const stored = await storedIds(
      store.db,
      part.map(({ record }) => record.call_id),
    )
    const fresh = part.filter(({ record }) => !stored.has(record.call_id)).map(toQueued)
    if (fresh.length === 0) continue
    await write(fresh, fresh.length).catch((error) => writeEach(write, fresh, error, onError))
    written += fresh.length
  }
  return written
}

/** Writes calls one by one, since the store rejects one of them. @throws the store's error when it is away */
async function writeEach(
  write: CallWriter,
  calls: readonly QueuedCall[],
  cause: unknown,
  onError: (error: unknown) => void,
): Promise<void> {
  if (isStoreFault(cause)) throw cause
  for (const call of calls)
    await write([call], 1).catch((error) => {
      if (isStoreFault(error)) throw error
      onError(error)
    })
}

const isStoreFault = (error: unknown): boolean => error instanceof GazewayError && error.code.startsWith('store_')

const toQueued = ({ record, spend, made }: NotedCall): QueuedCall => ({
  record,
  spend: spend && { ...spend, written() {} },
  made,
})

async function writeCharges(store: Store, charges: readonly NotedCharge[]): Promise<number> {
  let written = 0
  for (let at = 0; at < charges.length; at += BATCH) {
    const part = charges.slice(at, at + BATCH)
    written += await store.write((trx) => recordUncharged(trx, part, store.engine))
  }
  return written
}

/** Lowers what is presumed spent to what calls may have spent. */
async function releaseUnspent(store: Store, holder: string, out: ReadJournal['out']): Promise<Micros> {
  let released = 0
  const held = await store.db.selectFrom('allowances').select('id').where('holder', '=', holder).execute()
  for (const { id } of held) released += await lowerPresumed(store, id, out.get(id) ?? 0)
  return released
}
