import { readdirSync, readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { CallRecord } from '../../calls/call-record.ts'
import type { QueuedCall } from '../../calls/queued-call.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { isMissing } from '../../text/missing-file.ts'
import type { Micros } from '../../text/money.ts'
import type { NotedCharge } from '../receipts/store-receipts.ts'

/** Version of the lines. Journals of later versions are not read. */
const VERSION = 2
const FILE = /^(?<holder>[0-9a-f-]{36})\.(?<part>\d+)\.journal$/

/** First line of a journal file. */
export interface Header {
  version: number
  /** Start of the machine: after another one, the last lines may be missing, for none is flushed to the disk. */
  boot: string
  /** Names of the values in the lines of calls. Version 1 has objects instead. */
  fields?: readonly string[]
}

/** A call as the journal keeps it: without the request, the answer and the text of an error. */
export type NotedCall = Pick<QueuedCall, 'record' | 'spend' | 'made'>

/** Fields of a record that are noted: all but its texts. The names stand once, in the header: every call has a line. */
const FIELDS = Object.keys(CallRecord.shape).filter((name) => name !== 'content') as (keyof CallRecord)[]

/** A call in a line: the record's values in the order of the header. An absent one is null. */
interface CallLine extends Pick<NotedCall, 'spend' | 'made'> {
  values: readonly unknown[]
}

/** A line of a journal. `out`: calls may spend at most so much of an allowance from here on. */
export type JournalLine = { out: [allowanceId: string, micros: Micros] } | { call: CallLine } | { charge: NotedCharge }

/** Line of a call. @param error what stands in place of the record's error, if it has one */
export function callLine({ record, spend, made }: NotedCall, error: string): JournalLine {
  const values = FIELDS.map((name) => (name === 'error' && record.error !== null ? error : record[name]))
  return { call: { values, spend, made } }
}

/** Journal of a process, as it was read. */
export interface ReadJournal {
  calls: NotedCall[]
  charges: NotedCharge[]
  /** Last amounts that were out, by allowance. */
  out: ReadonlyMap<string, Micros>
  /** False when lines may be missing, so that it does not prove what was not spent. */
  isWhole: boolean
}

/** Name of the folder of journals in a data folder. */
export const journalFolder = (dataDir: string): string => join(dataDir, 'journal')

/** Path of a part of a journal. */
export const partOf = (folder: string, holder: string, part: number): string =>
  join(folder, `${holder}.${part}.journal`)

/** Path of the lock that a process holds for as long as it lives. */
export const lockOf = (folder: string, holder: string): string => join(folder, `${holder}.lock`)

/** First line of a journal of this process. */
export const header = (): Header => ({ version: VERSION, boot: bootId(), fields: FIELDS })

/** Lists the parts of journals by their process, in order. A missing folder has none. */
export function listJournals(folder: string): Map<string, string[]> {
  const parts = new Map<string, [number: number, path: string][]>()
  for (const name of namesIn(folder)) {
    const { holder, part } = FILE.exec(name)?.groups ?? {}
    if (holder !== undefined) parts.set(holder, [...(parts.get(holder) ?? []), [Number(part), join(folder, name)]])
  }
  return new Map([...parts].map(([holder, of]) => [holder, of.sort(([a], [b]) => a - b).map(([, path]) => path)]))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/**
 * Reads the journal of a process. A last line that was cut off by its end is omitted: its call had no answer yet.
 *
 * @returns null for a later version
 */
export function readJournal(paths: readonly string[]): ReadJournal | null {
  const journal = {
    calls: [] as NotedCall[],
    charges: [] as NotedCharge[],
    out: new Map<string, Micros>(),
    isWhole: true,
  }
  for (const path of paths) {
    const [first, ...lines] = readFileSync(path, 'utf8').split('\n').map(parseJson)
    // Killed before the first line was written.
    if (first === undefined) continue
    if (!isHeader(first)) return null
    journal.isWhole &&= first.boot === bootId()
    for (const line of lines) {
      if (!isObject(line)) continue
      const noted = line as Partial<Record<'out', [string, Micros]>> & {
        call?: CallLine | NotedCall
        charge?: NotedCharge
      }
      if (noted.out) journal.out.set(...noted.out)
      if (noted.call) journal.calls.push(calledIn(noted.call, first.fields ?? []))
      if (noted.charge) journal.charges.push(noted.charge)
    }
  }
  return journal
}

/** Reads a call of a line. Optional fields that it did not have are absent again. */
function calledIn(call: CallLine | NotedCall, fields: readonly string[]): NotedCall {
  if ('record' in call) return call
  const { values, spend, made } = call
  const named = fields.map((name, i) => [name, values[i]] as const)
  const record = Object.fromEntries(named.filter(([name, value]) => value !== null || !isOptional(name)))
  return { record: record as CallRecord, spend, made }
}

const isOptional = (name: string): boolean =>
  name in CallRecord.shape && CallRecord.shape[name as keyof CallRecord].safeParse(undefined).success

const isHeader = (line: unknown): line is Header =>
  isObject(line) &&
  typeof line.boot === 'string' &&
  (line.version === 1 || (line.version === VERSION && Array.isArray(line.fields)))

/** Identifies the time since the machine was started. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Not Linux. The clock may be set meanwhile: then the journal proves less than it could.
    return `since ${Math.round((Date.now() / 1000 - uptime()) / 60)}`
  }
}
