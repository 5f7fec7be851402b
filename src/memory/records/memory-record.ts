import * as z from 'zod'
import { ListQuery } from '../../store/page.ts'
import { isWhole, WHOLE } from '../../store/storable-text.ts'
import type { MemoryRow } from '../../store/tables/memory-tables.ts'
import { isDeeper, isObject } from '../../text/json.ts'
import { textOf } from '../../text/words.ts'
import { MAX_INDEXED_WORDS } from '../words/indexed-words.ts'

/** Largest value in bytes. A text counts by its UTF-8 bytes without escapes, other values by their JSON. */
const MAX_VALUE_BYTES = 256 * 1024
/** Beginning of the tag that names the session of a captured memory. */
export const OF_SESSION = 'session:'
/** Deepest nesting of a value, so that readers do not exhaust their stack. */
const MAX_VALUE_DEPTH = 100
/** 100 years: every time keeps a four-digit year, so that times sort as text. */
const MAX_TTL_SECONDS = 3_155_760_000

/** Longest name of a project, in characters. */
export const MAX_PROJECT = 512

/** Text that both engines can store: PostgreSQL accepts no NUL, and UTF-8 has no half surrogate pairs. */
const name = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !text.includes('\0'), 'must not contain the NUL character')
    .refine(isWhole, WHOLE)

const Key = name(512).describe('What the memory is recalled by, e.g. "deploy/staging".')
const Namespace = name(128).default('default').describe('A separate set of keys.')
const Project = name(MAX_PROJECT)
const Also = z.array(name(64)).max(16).describe('6-10 words that others might search for: synonyms, questions.')
const Tags = z.array(name(64)).max(32).describe('Labels to find and filter by.')

/** An object with all its properties. zod's own object types drop a property named `__proto__`. */
const JsonObject = z.unknown().refine(isObject, { abort: true }).meta({ type: 'object', additionalProperties: {} })

/** Value of a memory: text, or any other JSON value of at most 256 KiB. */
const Value = z
  .union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.unknown()), JsonObject])
  .refine((value) => !isDeeper(value, MAX_VALUE_DEPTH), {
    error: `must not nest more than ${MAX_VALUE_DEPTH} levels deep`,
    abort: true,
  })
  .refine(isExact, { error: 'must not hold a number beyond 1.8e308, which cannot be stored', abort: true })
  .refine((value) => Buffer.byteLength(textOrJson(value)) <= MAX_VALUE_BYTES, {
    error: 'must be at most 256 KiB: a text in UTF-8, anything else as JSON',
    abort: true,
  })
  .describe('The fact itself: text, or any JSON value.')

/** A fact under a key. One assistant stores it and any other can recall it. */
export const Memory = z.object({
  id: z.string().describe('`mem_…`'),
  key: Key,
  namespace: Namespace,
  project: Project.nullable().describe('Its project; null: every project.'),
  value: Value,
  tags: Tags,
  written_by: z.string().nullable().describe('Key that wrote it; null: a tool on this machine.'),
  version: z.int().min(1).describe('1 when created, one more with every store.'),
  created_at: z.string().describe('RFC 3339, UTC.'),
  updated_at: z.string().describe('RFC 3339, UTC.'),
  expires_at: z.string().nullable().describe('RFC 3339, UTC; null when it never expires.'),
})
export type Memory = z.infer<typeof Memory>

/** Number of distinct words of a stored value that are not in the index; absent for none. */
export const Unindexed = z
  .int()
  .optional()
  .describe(`Words beyond the first ${MAX_INDEXED_WORDS} different ones: not searched.`)

/**
 * Input for storing a memory. On an existing key, omitted `tags` and `also` are kept; an omitted `ttl_seconds` removes
 * the expiry. An omitted `project` is none.
 */
export const MemoryInput = z.object({
  key: Key,
  // Checked for input only, so that older memories stay readable.
  value: Value.refine((value) => isWhole(textOf(value)), WHOLE)
    .refine(isKept, {
      error:
        'must not hold a whole number beyond 9007199254740991 (2^53 - 1), which would lose digits: send it as text',
      abort: true,
    })
    .describe('Text, or any JSON value; whole numbers beyond 2^53 - 1 as text.'),
  namespace: Namespace,
  tags: Tags.optional(),
  also: Also.optional(),
  supersedes: Key.optional().describe('Key of a memory that it supersedes.'),
  project: Project.nullable().optional().describe('Its project; null: every project.'),
  ttl_seconds: z.int().min(1).max(MAX_TTL_SECONDS).optional().describe('Seconds until it expires.'),
  if_version: z.int().min(0).optional().describe('Only if it is still at this version; 0: only a new key.'),
})
export type MemoryInput = z.infer<typeof MemoryInput>

const time = z.iso.datetime({ offset: true })

/** Scope of a search over projects. */
export const Projects = z.literal('all').optional().describe('"all": also memories of other projects.')

/** Input of a search. `from` and `to` bound `updated_at`, both inclusive. */
export const MemorySearch = z.object({
  query: z.string().max(4000).describe('A question, or words in keys, tags and values; typos are forgiven.'),
  namespace: Namespace.unwrap().optional().describe('Only this namespace; all by default.'),
  tags: Tags.optional().describe('Only with all these tags.'),
  project: Project.nullable()
    .optional()
    .describe('Memories of this project and of no project; by default only of no project.'),
  projects: Projects,
  from: time.optional().describe('Only memories stored at this time or later.'),
  to: time.optional().describe('Only memories stored at this time or earlier.'),
  limit: z.int().min(1).max(100).default(10).describe('Best first.'),
})
export type MemorySearch = z.infer<typeof MemorySearch>

/** Filter of the memory list. */
export const MemoryList = ListQuery.extend({
  namespace: Namespace.unwrap().optional().describe('Only this namespace; all by default.'),
  tag: name(64).optional().describe('Only memories with this tag.'),
  project: Project.optional().describe('Only memories of this project; all by default.'),
})
export type MemoryList = z.infer<typeof MemoryList>

/** Columns that `toMemory` reads. */
export const MEMORY_COLUMNS = [
  'id',
  'key',
  'namespace',
  'project',
  'value',
  'tags',
  'written_by',
  'version',
  'created_at',
  'updated_at',
  'expires_at',
] as const

/** Converts a row into a memory. */
export function toMemory(row: Pick<MemoryRow, (typeof MEMORY_COLUMNS)[number]>): Memory {
  const { id, key, namespace, project, value, tags, written_by, version, created_at, updated_at, expires_at } = row
  return {
    id,
    key,
    namespace,
    project,
    value: JSON.parse(value),
    tags: JSON.parse(tags),
    written_by,
    version,
    created_at,
    updated_at,
    expires_at,
  }
}

const textOrJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Tells whether JSON can represent all numbers. 1e400 is parsed as infinity and would be stored as null. */
function isExact(value: unknown): boolean {
  return everyNumber(value, Number.isFinite)
}

/**
 * Tells whether all whole numbers kept their digits when parsed, unlike ids beyond 2^53. From 1e21, JSON uses
 * exponents: such numbers with up to 15 digits are measurements and lose nothing.
 */
function isKept(value: unknown): boolean {
  const isMeasured = (it: number) => Math.abs(it) >= 1e21 && Number(it.toPrecision(15)) === it
  return everyNumber(value, (it) => !Number.isInteger(it) || Number.isSafeInteger(it) || isMeasured(it))
}

function everyNumber(value: unknown, fits: (number: number) => boolean): boolean {
  if (typeof value === 'number') return fits(value)
  return typeof value !== 'object' || value === null || Object.values(value).every((part) => everyNumber(part, fits))
}
