import type * as z from 'zod'
import { ApiError } from '../api.ts'

/** JSON Schema of a setting or a part of one. */
export type Schema = z.core.JSONSchema.BaseSchema & { secret?: unknown; accepted?: unknown }

/**
 * Control of a value by its schema: `lines` and `pairs` are lists and records of plain values, one per line; `list`,
 * `entries` and `fields` have controls of their own for each part.
 */
export type Kind = 'switch' | 'choice' | 'number' | 'text' | 'lines' | 'pairs' | 'list' | 'entries' | 'fields'

/** The alternative of a schema that a value is edited by. */
export function shapeOf(schema: Schema, value?: unknown): Schema {
  const parts = (schema.anyOf ?? [schema]).filter(({ type }) => type !== 'null') as Schema[]
  const ofObjects = typeof value === 'object' && value !== null ? parts.find(({ properties }) => properties) : undefined
  return ofObjects ?? parts[0] ?? schema
}

/** Selects the control of a value. */
export function kindOf(schema: Schema, value?: unknown): Kind {
  const shape = shapeOf(schema, value)
  const { type, properties, additionalProperties } = shape
  const isHidden = schema.secret === 'value'
  if (choicesOf(schema).length > 0) return 'choice'
  if (type === 'boolean') return 'switch'
  if (type === 'array') return isPlain(shape.items) && !isHidden ? 'lines' : 'list'
  if (properties) return 'fields'
  if (type === 'object') return isPlain(additionalProperties) && !isHidden ? 'pairs' : 'entries'
  return type === 'integer' || type === 'number' ? 'number' : 'text'
}

const isPlain = (schema: unknown) =>
  typeof schema === 'object' &&
  schema !== null &&
  !('anyOf' in schema) &&
  !/object|array/.test(`${(schema as Schema).type}`)

/** Words that a value may be. Empty when it may be others. */
export const choicesOf = (schema: Schema): string[] =>
  (schema.anyOf ?? [schema]).flatMap((part) => (part as Schema).enum ?? []).map(String)

/** Schema of a part: an item, an entry or a field. Parts of a secret are secret. */
export function partOf(schema: Schema, value: unknown, name: string): Schema {
  const { items, properties, additionalProperties } = shapeOf(schema, value)
  const part = (properties?.[name] ?? additionalProperties ?? items ?? {}) as Schema
  return schema.secret === 'value' ? { ...part, secret: 'value' } : part
}

/** Returns the value at a dotted key. */
export function valueAt(config: Record<string, unknown>, key: string): unknown {
  return key.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], config)
}

/** Converts a value for editing as text; unset is empty. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join('\n')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, one]) => `${name} = ${one}`)
    .join('\n')
}

/**
 * Reads an edited value: texts in it become what their schema says, and empty parts are omitted. Empty is null, which
 * resets a setting to its default.
 *
 * @param path dotted, for faults
 * @throws ApiError with the path of text that cannot be read in `param`
 */
export function readValue(value: unknown, schema: Schema, path: string): unknown {
  if (typeof value === 'string') return readText(value, schema, path)
  if (typeof value !== 'object' || value === null) return value ?? null
  const parts = Object.entries(value).flatMap(([name, part]) => {
    const read = readValue(part, partOf(schema, value, name), `${path}.${name}`)
    return read === null && kindOf(schema, value) === 'fields' ? [] : [[name, read] as const]
  })
  return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts)
}

function readText(text: string, schema: Schema, path: string): unknown {
  const kind = kindOf(schema)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (kind === 'lines') return lines.map((line) => readText(line, partOf(schema, [], '0'), path))
  if (kind === 'pairs') return Object.fromEntries(lines.map((line) => readPair(line, path)))
  if (text.trim() === '') return null
  if (kind === 'switch') return text === 'true'
  if (kind !== 'number') return text.trim()
  const number = Number(text)
  if (Number.isFinite(number)) return number
  throw unreadable(path, 'This is not a number.')
}

/** Reads `name = value`. The value may contain `=`. */
function readPair(line: string, path: string): [string, string] {
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(line)?.map((part) => part.trim()) ?? []
  if (name === '' || value === '') throw unreadable(path, `“${line.trim()}” must be: name = value.`)
  return [name, value]
}

const unreadable = (param: string, message: string) => new ApiError({ status: 0, code: 'unreadable', message, param })

/**
 * Changes that make one value of a setting another, by dotted key. Of entries, those that differ alone: somebody else may
 * have changed the others.
 */
export function changesOf(key: string, schema: Schema, before: unknown, after: unknown): Record<string, unknown> {
  if (same(before, after)) return {}
  const { type, properties, additionalProperties, propertyNames } = schema
  const isRecord = type === 'object' && !properties
  if (!isRecord || !isObject(before) || !isObject(after)) return { [key]: after }
  const names = Object.keys({ ...before, ...after })
  const hasDots = new RegExp((propertyNames as Schema | undefined)?.pattern ?? '', 'u').test('a.b')
  const fields = hasDots ? undefined : (additionalProperties as Schema).properties
  const changes = names.map((name) => {
    const [was, is] = [before[name], after[name]]
    if (!fields || !isObject(was) || !isObject(is)) return same(was, is) ? {} : { [`${key}.${name}`]: is ?? null }
    const differing = Object.keys(fields).filter((field) => !same(was[field], is[field]))
    return Object.fromEntries(differing.map((field) => [`${key}.${name}.${field}`, is[field] ?? null]))
  })
  return Object.assign({}, ...changes)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Compares values. Null and absent are the same. */
const same = (one: unknown, other: unknown): boolean => JSON.stringify(one ?? null) === JSON.stringify(other ?? null)
