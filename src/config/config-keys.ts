import { isDeepStrictEqual } from 'node:util'
import { getProperty } from 'dot-prop'
import * as z from 'zod'
import { Config, type ConfigDocument, SECTION_NAMES, SECTIONS } from './config-schema.ts'

/** A setting: a leaf of the configuration. */
export interface ConfigKey {
  /** Dotted name, such as `http.port`. */
  key: string
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
}

/** Keys and defaults, as JSON. The build inserts it: reading them from the schema builds the schemas of all sections. */
declare const GAZEWAY_SETTINGS: string | undefined

const settings: { keys: readonly ConfigKey[]; defaults: Config } =
  typeof GAZEWAY_SETTINGS === 'string'
    ? JSON.parse(GAZEWAY_SETTINGS)
    : { keys: keysOf(Config, '', false), defaults: Config.parse({}) }

/** Keys of the configuration, in the order of the schema. */
export const CONFIG_KEYS = settings.keys

/** The configuration without any setting. */
export const DEFAULTS = settings.defaults

/** Finds a key by name. Undefined for a section, an entry or an unknown name. */
export const configKey = (key: string): ConfigKey | undefined => CONFIG_KEYS.find((known) => known.key === key)

/**
 * Schema of a key's values.
 *
 * @param key one of {@link CONFIG_KEYS}
 */
export function schemaOf(key: string): z.ZodType {
  const [section, ...fields] = key.split('.')
  const name = SECTION_NAMES.find((known) => known === section)
  if (name === undefined) throw new TypeError(`${key} is not a configuration key`)
  return fields.reduce(fieldOf, SECTIONS[name]())
}

/** Keys whose values differ. */
export const differingKeys = (before: ConfigDocument, after: ConfigDocument): ConfigKey[] =>
  CONFIG_KEYS.filter(({ key }) => !isSame(getProperty(before, key), getProperty(after, key)))

/** Compares settings. The order of entries counts: the first upstream that serves a model answers. */
export const isSame = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(one, other) && JSON.stringify(one) === JSON.stringify(other)

/**
 * Lists the keys of a schema.
 *
 * @param waits `restart` of the section above, which applies unless a leaf sets its own
 */
function keysOf(schema: z.ZodType, key: string, waits: boolean): ConfigKey[] {
  const inner = unwrapped(schema)
  const { variable, flag, secret, restart = waits, environmentOnly } = schema.meta() ?? {}
  if (inner instanceof z.ZodObject) {
    return Object.entries<z.ZodType>(inner.shape).flatMap(([name, child]) =>
      keysOf(child, key === '' ? name : `${key}.${name}`, restart === true),
    )
  }
  return [
    {
      key,
      variable: typeof variable === 'string' ? variable : null,
      flag: typeof flag === 'string' ? flag : null,
      hasEntries: inner instanceof z.ZodRecord,
      secret: secret === 'value' || secret === 'url' ? secret : null,
      secretFields: fieldsOf(inner).flatMap(([name, field]) => (field.meta()?.secret === 'value' ? [name] : [])),
      entryFields: namesHaveDots(inner) ? [] : fieldsOf(inner).map(([name]) => name),
      restart: restart === true,
      environmentOnly: environmentOnly === true,
    },
  ]
}

function fieldOf(schema: z.ZodType, name: string): z.ZodType {
  const inner = unwrapped(schema)
  const field = inner instanceof z.ZodObject ? (inner.shape[name] as z.ZodType | undefined) : undefined
  if (!field) throw new TypeError(`the configuration has no field ${name} there`)
  return field
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
