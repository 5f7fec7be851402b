import { sql } from 'kysely'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { requireUpToDate } from '../../src/store/existing-store.ts'
import { DAMAGED_ADVICE } from '../../src/store/sqlite/sqlite-errors.ts'
import type { Store } from '../../src/store/store.ts'
import { toUsd } from '../../src/text/money.ts'
import type { Check, Finding } from '../doctor/check.ts'
import { machineFindings, reason, runChecks, warning } from '../doctor/doctor.ts'
import { FORGETTING } from '../doctor/facts-checks.ts'
import { otherCopies } from './other-copies.ts'

/** Reads the journals of dead processes. */
const RECOVERY: Check = {
  name: 'recovery',
  async run({ journal }) {
    const { processes, calls, charges, releasedMicros } = await journal.recover()
    if (processes === 0) return 'no process of this data folder died'
    return `journals: ${processes}; counted calls: ${calls}, uncharged: ${charges}; released ${toUsd(releasedMicros)} USD`
  },
}

/**
 * Reads a whole SQLite file, because a damaged file can still answer most queries. PostgreSQL checks what it reads by
 * itself.
 *
 * @returns the damage and what to do; null when there is none
 */
async function damageOf({ engine, db }: Store): Promise<string | null> {
  if (engine !== 'sqlite') return null
  try {
    const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db)
    const found = rows[0]?.quick_check ?? ''
    // SQLite describes the damage on several lines.
    return found === 'ok' ? null : `It is damaged (${found.replace(/\s+/g, ' ')}). ${DAMAGED_ADVICE}`
  } catch (error) {
    return reason(error)
  }
}

/** Beginning of a printed finding. */
const WORDS: Readonly<Record<Finding['verdict'], string>> = { ok: 'ok', warn: 'warn', fail: 'FAIL' }

/**
 * Runs all checks and prints a line for each. The line of a failed check says what to do.
 *
 * @param print takes a line without its end
 * @param options.command path of the running command, which is compared to the installed one
 * @param options.recover true to count first what dead processes had not written, and to compare all settled calls
 * @param options.forgetFacts true to forget first what models refuse
 * @returns whether all checks passed
 */
export async function runDoctor(
  loaded: LoadedConfig,
  log: Log,
  print: (line: string) => void,
  {
    command = null,
    recover = false,
    forgetFacts = false,
  }: { command?: string | null; recover?: boolean; forgetFacts?: boolean } = {},
): Promise<boolean> {
  const say = ({ verdict, name, text }: Omit<Finding, 'settings'>) =>
    print(`${WORDS[verdict].padEnd(4)}  ${name.padEnd(13)}  ${text}`)
  const storeFailed = (error: unknown) => say({ name: 'store', verdict: 'fail', text: reason(error) })
  say({ name: 'configuration', verdict: 'ok', text: loaded.dataDir })
  const others = command === null ? null : otherCopies(command, loaded.request.env)
  for (const found of [...machineFindings(loaded), ...(others === null ? [] : [warning('installation', others)])])
    say(found)
  let gateway: Gateway
  try {
    await requireUpToDate(loaded.storeUrl)
    gateway = await createGateway(loaded, log)
  } catch (error) {
    storeFailed(error)
    return false
  }
  let healthy = true
  const damage = await damageOf(gateway.store)
  const first = [...(recover ? [RECOVERY] : []), ...(forgetFacts ? [FORGETTING] : [])]
  for await (const found of runChecks(gateway, { first, isThorough: recover })) {
    const isDamaged = found.name === 'store' && damage !== null
    const finding = isDamaged ? { ...found, verdict: 'fail' as const, text: damage } : found
    if (finding.verdict === 'fail') healthy = false
    say(finding)
  }
  try {
    await gateway.close()
  } catch (error) {
    healthy = false
    storeFailed(error)
  }
  return healthy
}
