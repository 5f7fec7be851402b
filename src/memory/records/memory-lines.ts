import { createReadStream } from 'node:fs'
import * as z from 'zod'
import { GazewayError } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import { isObject } from '../../text/json.ts'
import { linesOf } from '../../text/lines.ts'
import { parseInput } from '../../wire/validation.ts'
import { createCountChanges } from './count-changes.ts'
import { isLive } from './memory-expiry.ts'
import { isAt } from './memory-place.ts'
import { MEMORY_COLUMNS, MemoryInput, toMemory } from './memory-record.ts'
import { refuseSecrets, type Secrets } from './refuse-secrets.ts'
import { keepCounted } from './store-memory.ts'

/** Memories that are read or stored per batch. */
const BATCH = 100
/** The operator's space. */
const SPACE = 0
/** Longest line in bytes: enough for the largest memory as JSON with all escapes. */
const LONGEST_LINE = 4 * 1024 * 1024

/** A memory in a line: the input of storing it, with its writer and a time of expiry. */
const Line = MemoryInput.omit({ ttl_seconds: true, if_version: true, supersedes: true }).extend({
  written_by: z.string().min(1).max(256).nullable().default(null),
  expires_at: z.iso.datetime({ offset: true }).nullable().default(null),
})
type Line = z.infer<typeof Line>

/** An entity of `@modelcontextprotocol/server-memory` (its README has the format). */
const Entity = z.object({
  name: MemoryInput.shape.key,
  entityType: z.string().default(''),
  observations: z.array(z.string()).default([]),
})

/** A relation of `@modelcontextprotocol/server-memory`. */
const Relation = z.object({ from: z.string(), to: z.string(), relationType: z.string() })

/** Result of an import. */
export interface ImportReport {
  stored: number
  /** Memories that were already stored with the same content. */
  same: number
  expired: number
}

/** Yields the operator's memories as JSON Lines, in the order in which their keys were first stored. */
export async function* memoryLines(
  store: Store,
  of: { namespace?: string | undefined; now: string },
): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    let query = store.reads
      .selectFrom('memories')
      .select(['seq', 'also', ...MEMORY_COLUMNS])
      .where('space', '=', SPACE)
      .where('seq', '>', last)
      .where(isLive(of.now))
      .orderBy('seq')
      .limit(BATCH)
    if (of.namespace !== undefined) query = query.where('namespace', '=', of.namespace)
    const rows = await query.execute()
    for (const row of rows) {
      const { key, namespace, project, value, tags, written_by, created_at, updated_at, expires_at } = toMemory(row)
      const also: unknown = JSON.parse(row.also)
      yield `${JSON.stringify({ type: 'memory', key, namespace, project, value, tags, also, written_by, created_at, updated_at, expires_at })}\n`
    }
    last = rows.at(-1)?.seq ?? last
    if (rows.length < BATCH) return
  }
}

/**
 * Imports a file of JSON Lines into the operator's memories. Accepts the format of `memoryLines` and of server-memory.
 * All lines are checked before the first is stored. Memories that are already stored with the same content stay
 * unchanged, so a repeated import changes nothing.
 *
 * @param of.namespace namespace of entities, and of lines without one
 * @throws GazewayError `validation_failed` with the line number; then nothing is stored
 */
export async function importLines(
  store: Store,
  file: string,
  { namespace, now, secrets = 'refuse' }: { namespace: string; now: () => Date; secrets?: Secrets },
): Promise<ImportReport> {
  const relations = new Map<string, string[]>()
  for await (const { json, number } of entriesOf(file)) {
    const relation = read(Relation, json, number, 'relation')
    if (relation === null) continue
    const { from, relationType, to } = relation
    relations.set(from, [...(relations.get(from) ?? []), `${relationType} ${to}`])
  }
  const memories = async function* () {
    for await (const { json, number } of entriesOf(file))
      if (!isOf(json, 'relation')) yield { memory: memoryOf(json, number, namespace, relations), number }
  }
  // All lines are checked before the first is stored.
  for await (const { memory, number } of memories()) if (secrets === 'refuse') checkSecrets(memory, number)
  const report: ImportReport = { stored: 0, same: 0, expired: 0 }
  let batch: Line[] = []
  const flush = async () => {
    const outcomes = await storeTogether(store, batch, now())
    for (const outcome of outcomes) report[outcome]++
    batch = []
  }
  for await (const { memory } of memories()) {
    batch.push(memory)
    if (batch.length === BATCH) await flush()
  }
  await flush()
  return report
}

async function* entriesOf(file: string): AsyncGenerator<{ json: unknown; number: number }> {
  // Skips a byte order mark.
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let number = 0
  for await (const line of linesOf(createReadStream(file), LONGEST_LINE)) {
    number++
    if (line === null) throw fault(number, 'is longer than 4 MiB')
    const text = attempt(() => utf8.decode(line), TypeError, number, 'is not UTF-8')
    if (text.trim() !== '') yield { json: attempt(() => JSON.parse(text), SyntaxError, number, 'is not JSON'), number }
  }
}

/** Names the line when `read` throws an error of the kind. */
function attempt<T>(read: () => T, kind: typeof TypeError | typeof SyntaxError, number: number, why: string): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof kind) throw fault(number, why)
    throw cause
  }
}

function memoryOf(json: unknown, number: number, namespace: string, relations: ReadonlyMap<string, string[]>): Line {
  const entity = read(Entity, json, number, 'entity')
  if (entity) {
    const { name, entityType, observations } = entity
    const value = [...observations, ...(relations.get(name) ?? [])].join('\n')
    const tags = entityType === '' ? [] : [entityType.slice(0, 64)]
    return check(Line, { key: name, namespace, value, tags }, number)
  }
  if (!isObject(json)) throw fault(number, 'is not an object')
  return check(Line, { namespace, ...json }, number)
}

const isOf = (json: unknown, type: string): boolean => isObject(json) && 'type' in json && json.type === type

const read = <T extends z.ZodType>(schema: T, json: unknown, number: number, type: string): z.output<T> | null =>
  isOf(json, type) ? check(schema, json, number) : null

const check = <T extends z.ZodType>(schema: T, json: unknown, number: number): z.output<T> =>
  inLine(number, () => parseInput(schema, json))

const checkSecrets = (memory: Line, number: number): void => inLine(number, () => refuseSecrets(memory))

/** Names the line when a check fails. */
function inLine<T>(number: number, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    if (cause instanceof GazewayError) throw fault(number, `does not fit: ${cause.message.replace(/\.$/, '')}`)
    throw cause
  }
}

const fault = (number: number, why: string): GazewayError =>
  new GazewayError('validation_failed', `Line ${number} ${why}. Nothing was imported; correct or remove the line.`)

function storeTogether(store: Store, lines: readonly Line[], now: Date): Promise<Array<keyof ImportReport>> {
  return store.write(async (trx) => {
    const outcomes: Array<keyof ImportReport> = []
    const changes = createCountChanges()
    for (const { expires_at, written_by, ...input } of lines) {
      const ttl = expires_at === null ? undefined : Math.ceil((Date.parse(expires_at) - now.getTime()) / 1000)
      const held = await trx
        .selectFrom('memories')
        .select(['value', 'tags', 'also', 'written_by'])
        .where(isAt({ space: SPACE, ...input, project: input.project ?? null }))
        .where(isLive(now.toISOString()))
        .executeTakeFirst()
      if (ttl !== undefined && ttl < 1) outcomes.push('expired')
      else if (held?.written_by === written_by && isSame(held, input)) outcomes.push('same')
      else {
        const timed = { ...input, ...(ttl !== undefined && { ttl_seconds: ttl }) }
        await keepCounted(trx, {
          space: SPACE,
          input: timed,
          now: now.toISOString(),
          caller: { id: written_by, trusts: [] },
          changes,
        })
        outcomes.push('stored')
      }
    }
    await changes.write(trx)
    return outcomes
  })
}

/** Tells whether a memory equals a line. */
const isSame = (
  held: { value: string; tags: string; also: string },
  { value, tags, also }: Omit<Line, 'expires_at' | 'written_by'>,
): boolean =>
  held.value === JSON.stringify(value) &&
  (tags === undefined || held.tags === JSON.stringify(tags)) &&
  (also === undefined || held.also === JSON.stringify(also))
