import { type Base, logged } from '../../base.ts'
import { toUsd } from '../../text/money.ts'
import { createRepeated } from '../../wire/repeated-runs.ts'
import { createJournal, type Journal } from './journal.ts'
import { journalFolder } from './journal-file.ts'
import { type Recovered, recoverJournals } from './recover.ts'

/** Interval of the search for journals of processes that died, in milliseconds. */
const EVERY_MS = 60_000
const DAY_MS = 86_400_000

/** The journal of this process, and those of processes that died on the same data folder. */
export interface LiveJournal extends Pick<Journal, 'holder' | 'mark' | 'noteCall' | 'noteCharge'> {
  /** Begins the journal of a service, and counts what processes before it left, now and every minute. */
  start(): Promise<void>
  /** Counts what processes left that died. @throws the error of the store or the system */
  recover(): Promise<Recovered>
  /** Ends the journal, once all calls are written. */
  close(): Promise<void>
}

/** Creates the journal of this process in its data folder. */
export function liveJournal(base: Base): LiveJournal {
  const { store, now, config, log } = base
  const journal = createJournal(
    logged(base, 'Failed to write the journal. If this process dies, more is presumed spent.'),
  )
  const onError = logged(base, 'Failed to read the journal of a process that died; will retry.')
  const folder = journalFolder(config.current().dataDir)

  function keptSince(): string | null {
    const days = config.current().config.audit.retention_days
    return days === null ? null : new Date(now().getTime() - days * DAY_MS).toISOString()
  }

  const recover = () => recoverJournals({ store, now, folder, own: journal.holder, keptSince: keptSince(), onError })

  async function recoverAndTell(): Promise<void> {
    const { processes, calls, charges, releasedMicros } = await recover()
    if (processes === 0) return
    log.warn('Counted what a process that died had not written.', {
      ...{ processes, calls, charges },
      released_usd: toUsd(releasedMicros),
    })
  }
  const repeated = createRepeated(recoverAndTell, { everyMs: EVERY_MS, onError })

  return {
    ...journal,
    recover,
    async start() {
      await repeated.run()
      repeated.start()
      await journal.open(folder).catch(logged(base, 'Failed to begin the journal in the data folder.'))
    },
    async close() {
      await repeated.stop()
      journal.close()
    },
  }
}
