import { isDeepStrictEqual } from 'node:util'
import { getProperty } from 'dot-prop'
import * as z from 'zod'
import { Config, type ConfigDocument } from './config-schema.ts'

/** One thing that can be set: a leaf of the configuration. */
export interface ConfigKey {
  /** Dotted, as in `http.port`. */
  key: string
  schema: z.ZodType
  /** The environment variable that sets it. */
  variable: string | null
  /** The flag of the command that sets it. */
  flag: string | null
  /** Whether it holds entries by name (`upstream.aliases`), each of which can be set on its own. */
  hasEntries: boolean
  /** `value`: all of it is secret. `url`: a URL that may hold a password. */
  secret: 'value' | 'url' | null
  /** The fields of each entry that are secret, where its entries are objects (`upstreams`). */
  secretFields: readonly string[]
  /** The fields that can be set on their own, where entries are objects and their names have no dots (`upstreams.NAME.weight`). */
  entryFields: readonly string[]
  /** Whether a change waits until the process is started again; everything else applies at once. */
  restart: boolean
  /** Whether it is read from the environment only, and kept in no file and no store. */
  environmentOnly: boolean
  description: string
}

/** Every key of the configuration, in the schema's order. */
export const CONFIG_KEYS: readonly ConfigKey[] = keysOf(Config, '', false)

/** The key of that name; undefined for a section, an entry or an unknown name. */
export const configKey = (key: string): ConfigKey | undefined => CONFIG_KEYS.find((known) => known.key === key)

/** The keys whose values differ. */
export const differingKeys = (before: ConfigDocument, after: ConfigDocument): ConfigKey[] =>
  CONFIG_KEYS.filter(({ key }) => !isDeepStrictEqual(getProperty(before, key), getProperty(after, key)))

/** @param waits whether what is above waits for a restart, which holds below unless a leaf says otherwise */
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

/** The fields of the entries of a record of objects. */
function fieldsOf(record: z.core.$ZodType): [string, z.ZodType][] {
  const entry = record instanceof z.ZodRecord ? unwrapped(record.valueType) : record
  return record instanceof z.ZodRecord && entry instanceof z.ZodObject ? Object.entries<z.ZodType>(entry.shape) : []
}

/** Whether entries may be named so that a part after a dot could be a field, too, as models are. */
function namesHaveDots(record: z.core.$ZodType): boolean {
  return record instanceof z.ZodRecord && z.safeParse(record.keyType, 'a.b').success
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap())
    : schema
}
