import type { Kysely, Transaction } from 'kysely'
import type { GazeLevel } from '../config/sections/gaze-section.ts'
import type { Schema } from '../store/schema.ts'
import type { AttestationRow } from '../store/tables/gaze-tables.ts'
import { type AttestationTerms, assessAgain, coveredRecords, type StoredRecord } from './attest.ts'
import { type Attestation, assess, levelOf, StoredAttestation } from './attestation.ts'
import { type Evidence, isOfItsTime } from './evidence.ts'
import { reaches } from './evidence-level.ts'
import { CHAIN_START } from './fingerprint.ts'
import { DamagedPack, isUnbroken, type Pack, type PackedRecord, recordsOf } from './record-pack.ts'
import { packsBySeq } from './record-packs.ts'

/** Newest covered records whose hash chain is recomputed. Bounds the work. */
const CHECKED_RECORDS = 1000

const NO_MATCH = 'The attestation does not match the records that it covers. Store newer gaze records to get another.'
const DAMAGED =
  'Records that the attestation covers were damaged in the store. Store new gaze records for the task in another session: omit session_id.'

/** Requirements of a check. */
export interface Check {
  attestationId: string
  taskId: string
  evidence: readonly Evidence[]
  /** Least level of evidence; null for the one of the settings. */
  level: GazeLevel | null
  at: string
}

/** Decides whether an attestation proves attention to a task, and allows each to be used once. */
export interface GazeVerifier {
  /**
   * Explains to the sender why an attestation does not prove attention to a task; empty when it does. The computation
   * is slow, so run it before the transaction. Inside the transaction, `use` decides.
   *
   * @param check.taskId task that the attestation must be bound to
   * @param check.evidence accepted owners and time ranges of records; one is enough
   * @param check.level `plausible` needs a pass with the required score; `seen` needs enough records that are no replay
   * @param check.at now, RFC 3339 UTC
   */
  check(db: Kysely<Schema>, check: Check): Promise<string[]>
  /**
   * Marks an attestation as used, in the transaction that it is used for. Of several concurrent uses, one succeeds.
   *
   * @param use.usedBy purpose, such as `release esc_0199…`
   * @param use.at now, RFC 3339 UTC
   * @returns false when it was used before
   */
  use(trx: Transaction<Schema>, use: { attestationId: string; usedBy: string; at: string }): Promise<boolean>
}

/**
 * Creates the verifier. An attestation proves attention when it:
 * - reaches the required level, and for `plausible` the required score;
 * - is bound to the task, covers the required records and is recent enough;
 * - was not used before, and enough of its records are newer than those already used in its session;
 * - is genuine.
 *
 * A genuine attestation agrees with the columns of its row and names the hash and the task of the last record that it
 * covers. The hashes of its newest thousand records, its score and its replay mark are the same when recomputed.
 */
export function createGazeVerifier(terms: AttestationTerms): GazeVerifier {
  const { requiredLevel = 'plausible' } = terms
  return {
    async check(db, { attestationId, taskId, evidence, level, at }) {
      const needed = level ?? requiredLevel
      const row = await db.selectFrom('attestations').selectAll().where('id', '=', attestationId).executeTakeFirst()
      if (row === undefined) return ['There is no such attestation. Store gaze records for the task to get one.']
      const attestation = readAttestation(row)
      if (attestation === null) return [NO_MATCH]
      try {
        const covered = await coveredRecords(db, attestation, terms)
        if (!(await isGenuine(db, attestation, covered, terms))) return [NO_MATCH]
        return [
          ...shortcomings(attestation, terms, { taskId, needed, at }),
          ...(await unproven(db, attestation, { covered, evidence, needed, terms })),
          ...(await usesBefore(db, attestation, terms)),
        ]
      } catch (error) {
        if (error instanceof DamagedPack) return [DAMAGED]
        throw error
      }
    },

    async use(trx, { attestationId, usedBy, at }) {
      const row = await trx.selectFrom('attestations').selectAll().where('id', '=', attestationId).executeTakeFirst()
      const attestation = row === undefined ? null : readAttestation(row)
      if (attestation === null || (await usesBefore(trx, attestation, terms)).length > 0) return false
      const { session_id, records } = attestation
      const used = await trx
        .insertInto('attestation_uses')
        .values({ attestation_id: attestationId, session_id, records, used_by: usedBy, used_at: at })
        .onConflict((conflict) => conflict.column('attestation_id').doNothing())
        .returning('attestation_id')
        .execute()
      return used.length === 1
    },
  }
}

/** Explains a use of the attestation, or of too many of its records, before; empty for none. */
async function usesBefore(
  db: Kysely<Schema>,
  { id, session_id, records }: Attestation,
  { recordsNeeded }: AttestationTerms,
): Promise<string[]> {
  const used = await db
    .selectFrom('attestation_uses')
    .select('used_by')
    .where('attestation_id', '=', id)
    .executeTakeFirst()
  if (used !== undefined) return ['The attestation was used before. Store newer gaze records.']
  const last = await db
    .selectFrom('attestation_uses')
    .select('records')
    .where('session_id', '=', session_id)
    .orderBy('records', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last === undefined) return []
  const newer = Math.max(0, records - (last.records ?? 0))
  if (newer >= recordsNeeded) return []
  return [`${newer} of its records are newer than those that were used before; ${recordsNeeded} are needed.`]
}

/** Reasons for refusal that the attestation itself states. */
function shortcomings(
  { status, reasons, task_id, poa_score, issued_at, replayed, level }: Attestation,
  { minScore, maxAgeSeconds }: AttestationTerms,
  { taskId, needed, at }: { taskId: string; needed: GazeLevel; at: string },
): string[] {
  const found: string[] = []
  if (task_id !== taskId)
    found.push(`The attestation is bound to ${task_id === null ? 'no task' : 'another task'}, not to ${taskId}.`)
  const isReached = reaches(level, needed)
  if (!isReached) found.push(`The attestation reaches the level ${level}; ${needed} is needed.`)
  if (status === 'collecting') found.push(`The attestation is still collecting: ${reasons.join('; ')}.`)
  if (status === 'failed' && !isReached) found.push(`The attestation failed: ${reasons.join('; ')}.`)
  if (reaches(needed, 'plausible') && poa_score < minScore)
    found.push(`Its score is ${poa_score}; ${minScore} or more is needed.`)
  if (replayed) found.push('Its records were copied from another session.')
  const age = (Date.parse(at) - Date.parse(issued_at)) / 1000
  if (age > maxAgeSeconds)
    found.push(`The attestation is ${Math.ceil(age)} s old; at most ${maxAgeSeconds} s are allowed.`)
  return found
}

/** Level and terms of a check. */
interface Needed {
  needed: GazeLevel
  terms: AttestationTerms
}

/** Explains why the records are not accepted: another owner, or another time range. */
async function unproven(
  db: Kysely<Schema>,
  attestation: Attestation,
  { covered, evidence, ...of }: Needed & { covered: readonly StoredRecord[]; evidence: readonly Evidence[] },
): Promise<string[]> {
  const session = await db
    .selectFrom('gaze_sessions')
    .select('caller_id')
    .where('session_id', '=', attestation.session_id)
    .executeTakeFirst()
  const own = evidence.filter(({ callerId }) => callerId === session?.caller_id)
  const [first, ...others] = own.map((one) => ofAnotherTime(attestation, { covered, evidence: one, ...of }))
  if (first === undefined)
    return [
      `Its records were stored by someone else; only ${evidence.map(({ description }) => description).join(', or ')} count.`,
    ]
  return others.some((reasons) => reasons.length === 0) ? [] : first
}

/** Explains why records inside the time range do not pass by themselves; empty when they do. */
function ofAnotherTime(
  { records_needed, issued_at }: Attestation,
  { covered, evidence, needed, terms }: Needed & { covered: readonly StoredRecord[]; evidence: Evidence },
): string[] {
  const counted = covered.filter((record) => isOfItsTime(record, evidence))
  if (counted.length === covered.length) return []
  const rules = { ...terms, recordsNeeded: records_needed }
  const { status, reasons, level } = assess(counted, counted.length, rules, new Date(issued_at))
  if (reaches(level, needed)) return []
  const why =
    status === 'collecting' ? `${records_needed} over ${terms.minDurationMs} ms are needed` : reasons.join('; ')
  return [
    `${counted.length} of its ${covered.length} newest records count; only ${evidence.description} are accepted: ${why}.`,
  ]
}

/** Parses the attestation in a row; null when it differs from the row's columns. */
function readAttestation({ body, ...columns }: AttestationRow): Attestation | null {
  const parsed = StoredAttestation.safeParse(JSON.parse(body))
  if (!parsed.success) return null
  const names = Object.keys(columns) as Array<keyof typeof columns>
  return names.every((name) => parsed.data[name] === columns[name]) ? parsed.data : null
}

/**
 * Verifies that the covered records are unchanged and that the attestation states what they show. The score decides
 * separately whether it passes under the current settings.
 */
async function isGenuine(
  db: Kysely<Schema>,
  covered: Attestation,
  records: readonly StoredRecord[],
  terms: AttestationTerms,
): Promise<boolean> {
  if (!(await isOfItsChain(db, covered))) return false
  const { poa_score, replayed, status } = assessAgain(records, covered, terms)
  const isJudged = (status: Attestation['status']) => status !== 'collecting'
  return (
    poa_score === covered.poa_score &&
    replayed === covered.replayed &&
    isJudged(status) === isJudged(covered.status) &&
    covered.level === levelOf(covered)
  )
}

/**
 * Verifies that the attested head is in its session's chain and that the earlier records lead to it. The number of
 * missing records may reach the session's number of pruned ones.
 */
async function isOfItsChain(
  db: Kysely<Schema>,
  { session_id, task_id, records, chain_head }: Attestation,
): Promise<boolean> {
  const session = await db
    .selectFrom('gaze_sessions')
    .select(['session_id', 'task_id', 'pruned'])
    .where('session_id', '=', session_id)
    .executeTakeFirst()
  if (session === undefined || session.task_id !== task_id) return false
  let [missing, checked] = [0, 0]
  let later: Pack | null = null
  for await (const pack of packsBySeq(db, session, records)) {
    const [first, last] = [pack.records[0] as PackedRecord, pack.records.at(-1) as PackedRecord]
    if (later === null && hashAt(pack, records) !== chain_head) return false
    if (later !== null) {
      const gap = (later.records[0] as PackedRecord).seq - last.seq - 1
      if (gap < 0 || !isUnbroken(later, gap === 0 ? pack.head : null)) return false
      missing += gap
    }
    later = pack
    checked += last.seq - first.seq + 1
    // The records before the oldest one read are outside the checked range.
    if (checked > CHECKED_RECORDS) return isUnbroken(pack, null) && missing <= session.pruned
  }
  if (later === null) return false
  const before = (later.records[0] as PackedRecord).seq - 1
  return isUnbroken(later, before === 0 ? CHAIN_START : null) && missing + before <= session.pruned
}

/** Hash of the record at a position; null when the pack has none there. */
const hashAt = (pack: Pack, seq: number): string | null =>
  recordsOf(pack).find((record) => record.seq === seq)?.hash ?? null
