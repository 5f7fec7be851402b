import { isDeepStrictEqual } from 'node:util'
import { getProperty } from 'dot-prop'
import * as z from 'zod'
import { Config, type ConfigDocument } from './config-schema.ts'

/** A setting: a leaf of the configuration. */
export interface ConfigKey {
  /** Dotted name, such as `http.port`. */
  key: string
  schema: z.ZodType
  /** Environment variable that sets it. */
  variable: string | null
  /** Command-line flag that sets it. */
  flag: string | null
  /** True when it holds named entries (`upstream.aliases`), each of which can be set separately. */
  hasEntries: boolean
  /** `value`: the whole value is secret. `url`: a URL that may contain a password. */
  secret: 'value' | 'url' | null
  /** Secret fields of each entry, when entries are objects (`upstreams`). */
  secretFields: readonly string[]
  /**
   * Fields that can be set separately, when entries are objects and their names contain no dots
   * (`upstreams.NAME.weight`).
   */
  entryFields: readonly string[]
  /** True when a change takes effect at the next start. All others apply at once. */
  restart: boolean
  /** True when it is read from the environment only, and stored in no file and no store. */
  environmentOnly: boolean
  description: string
}

/** Keys of the configuration, in the order of the schema. */
export const CONFIG_KEYS: readonly ConfigKey[] = keysOf(Config, '', false)

/** Finds a key by name. Undefined for a section, an entry or an unknown name. */
export const configKey = (key: string): ConfigKey | undefined => CONFIG_KEYS.find((known) => known.key === key)

/** Keys whose values differ. */
export const differingKeys = (before: ConfigDocument, after: ConfigDocument): ConfigKey[] =>
  CONFIG_KEYS.filter(({ key }) => !isDeepStrictEqual(getProperty(before, key), getProperty(after, key)))

/**
 * Lists the keys of a schema.
 *
 * @param waits `restart` of the section above, which applies unless a leaf sets its own
 */
function keysOf(schema: z.ZodType, key: string, waits: boolean): ConfigKey[] {
  const inner = unwrapped(schema)
  const { variable, flag, secret, restart = waits, environmentOnly, description = '' } = schema.meta() ?? {}
  if (inner instanceof z.ZodObject) {
    return Object.entries<z.ZodType>(inner.shape).flatMap(([name, child]) =>
      keysOf(child, key === '' ? name : `${key}.${name}`, restart === true),
    )
  }
  return [
    {
      key,
      schema,
      variable: typeof variable === 'string' ? variable : null,
      flag: typeof flag === 'string' ? flag : null,
      hasEntries: inner instanceof z.ZodRecord,
      secret: secret === 'value' || secret === 'url' ? secret : null,
      secretFields: fieldsOf(inner).flatMap(([name, field]) => (field.meta()?.secret === 'value' ? [name] : [])),
      entryFields: namesHaveDots(inner) ? [] : fieldsOf(inner).map(([name]) => name),
      restart: restart === true,
      environmentOnly: environmentOnly === true,
      description,
    },
  ]
}

/** Fields of the entries, for a record of objects. */
function fieldsOf(record: z.core.$ZodType): [string, z.ZodType][] {
  const entry = record instanceof z.ZodRecord ? unwrapped(record.valueType) : record
  return record instanceof z.ZodRecord && entry instanceof z.ZodObject ? Object.entries<z.ZodType>(entry.shape) : []
}

/**
 * Tells whether names of entries may contain dots, as model names do. A part after a dot could then also be a field.
 */
function namesHaveDots(record: z.core.$ZodType): boolean {
  return record instanceof z.ZodRecord && z.safeParse(record.keyType, 'a.b').success
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap())
    : schema
}
