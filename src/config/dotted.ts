import { isDeepStrictEqual } from 'node:util'
import { deleteProperty, getProperty, setProperty } from 'dot-prop'
import { GazewayError } from '../errors.ts'
import { cut } from '../text/cut.ts'
import { explain } from '../wire/validation.ts'
import { checkConfig } from './check-config.ts'
import { CONFIG_KEYS, type ConfigKey, configKey } from './config-keys.ts'
import { Config, type ConfigDocument } from './config-schema.ts'
import { variableOf } from './environment.ts'
import { nearestKey } from './nearest-key.ts'
import { REDACTED, redactConfig, redactUrl } from './redact.ts'
import { routingFault } from './routing-fault.ts'
import { keepUpstreamSecrets } from './upstream-keys.ts'

/** Names that would reach an object's prototype instead of an entry. */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Applies `changes` to a copy of `document`, all or none.
 *
 * - A key is dotted (`http.port`), names an entry (`upstream.aliases.fast`, `pricing.models.llm-4.20`: the rest of the
 *   key is the entry's name, dots included), or names a section, whose value is an object of changes.
 * - `null` resets to the default.
 * - A value as it was displayed changes nothing: a redacted secret (`***`), a value from a flag or variable, or a
 *   default, which would otherwise be pinned. Entries in another order are reordered.
 *
 * @param inForce configuration that was displayed
 * @throws GazewayError `unknown_config_key` naming the nearest known key, `validation_failed` naming the key at fault
 */
export function setDotted(
  document: ConfigDocument,
  changes: Readonly<Record<string, unknown>>,
  inForce: Config,
): ConfigDocument {
  const next = structuredClone(document)
  for (const [key, value] of Object.entries(changes)) change(next, key, value, inForce)
  keepUpstreamSecrets(document, next, changes, inForce)
  const checked = checkConfig(next)
  if (checked.success) {
    refuseOnePort(document, checked.data)
    const fault = routingFault(checked.data)
    if (fault) throw new GazewayError('validation_failed', fault.message, { param: fault.param })
    return next
  }
  const { param, message } = explain(checked.error, Config, next, { name: 'configuration', nearest: nearestKey })
  throw new GazewayError('validation_failed', message, param === null ? {} : { param })
}

function change(document: ConfigDocument, key: string, value: unknown, inForce: Config): void {
  const leaf = configKey(key)
  const record = CONFIG_KEYS.find((known) => known.hasEntries && key.startsWith(`${known.key}.`))
  if (leaf) changeLeaf(document, leaf, value, inForce)
  else if (record) changeEntry(document, record, key.slice(record.key.length + 1), value)
  else changeSection(document, key, value, inForce)
}

function changeSection(document: ConfigDocument, key: string, value: unknown, inForce: Config): void {
  if (!CONFIG_KEYS.some((known) => known.key.startsWith(`${key}.`))) throw unknownKey(key)
  if (value === null) {
    deleteProperty(document, key)
    return
  }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new GazewayError('validation_failed', `${key}: a section of the configuration; must be an object, or null.`, {
      param: key,
    })
  }
  for (const [name, inner] of Object.entries(value)) change(document, `${key}.${name}`, inner, inForce)
}

function changeLeaf(document: ConfigDocument, leaf: ConfigKey, value: unknown, inForce: Config): void {
  const { key, secret } = leaf
  if (value === null) {
    deleteProperty(document, key)
    return
  }
  if (secret === 'value' && value === REDACTED) return
  if (isDeepStrictEqual(value, getProperty(inForce, key)) || isShown(leaf, value, inForce)) {
    if (leaf.hasEntries) reorder(document, key, Object.keys(value as object))
    return
  }
  if (leaf.environmentOnly) throw notKept(key)
  if (secret === 'url' && typeof value === 'string' && isRedactedUrl(leaf, value, inForce)) return
  if (leaf.hasEntries) refuseReserved(leaf, value)
  const keeps = secret === 'value' && leaf.hasEntries
  setProperty(document, key, keeps ? withKeptEntries(value, getProperty(document, key)) : value)
}

/** Gives entries the order in which they were sent, without a change of any. */
function reorder(document: ConfigDocument, key: string, names: readonly string[]): void {
  const entries = Object.entries<unknown>(getProperty(document, key) ?? {})
  const sorted = entries.sort(([one], [other]) => names.indexOf(one) - names.indexOf(other))
  if (entries.length > 1) setProperty(document, key, Object.fromEntries(sorted))
}

/**
 * Rejects equal ports. Even if flags or variables separate them now, a process started without those could not serve
 * both.
 */
function refuseOnePort(before: ConfigDocument, { http }: Config): void {
  const { port, platform_port } = http
  if (port !== platform_port || port === 0) return
  const was = checkConfig(before).data?.http
  if (was?.port === port && was.platform_port === port) return
  const message = `http.platform_port: ${port} is already the port of the gateway; choose another port.`
  throw new GazewayError('validation_failed', message, { param: 'http.platform_port' })
}

/** Error for a secret that may only be in the environment of the process. */
function notKept(key: string): GazewayError {
  const message = `${key}: it is not stored; set ${variableOf(key)} in the environment instead.`
  return new GazewayError('validation_failed', message, { param: key })
}

/** Tells whether entries with secrets are sent as they were displayed. */
const isShown = ({ key, secretFields }: ConfigKey, value: unknown, inForce: Config): boolean =>
  secretFields.length > 0 && isDeepStrictEqual(value, getProperty(redactConfig(inForce), key))

function changeEntry(document: ConfigDocument, record: ConfigKey, written: string, value: unknown): void {
  const name = written.replaceAll('\\.', '.')
  if (name === '') throw unknownKey(`${record.key}.`)
  if (record.entryFields.length > 0 && name.includes('.')) {
    changeField(document, record, name, value)
    return
  }
  refuseReserved(record, { [name]: value })
  if (record.secret === 'value' && value === REDACTED) return
  setProperty(document, record.key, put({ ...getProperty(document, record.key) }, name, value))
}

/**
 * Changes a field of an entry.
 *
 * @param path an entry, one of its fields, and possibly an entry of that
 */
function changeField(document: ConfigDocument, record: ConfigKey, path: string, value: unknown): void {
  const [name = '', field = '', ...inner] = path.split('.')
  if (!record.entryFields.includes(field)) throw unknownKey(`${record.key}.${path}`)
  refuseReserved(record, { [name]: value })
  const entries: Record<string, unknown> = { ...getProperty(document, record.key) }
  const entry = { ...(entries[name] as object) } as Record<string, unknown>
  if (inner.length === 0) put(entry, field, value)
  else {
    const innerName = inner.join('.')
    refuseReserved(record, { [innerName]: value })
    entry[field] = put({ ...(entry[field] as object) }, innerName, value)
  }
  setProperty(document, record.key, { ...entries, [name]: entry })
}

/** Sets an entry. Null removes it. */
function put(entries: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  if (value === null) delete entries[name]
  else entries[name] = value
  return entries
}

function isRedactedUrl(leaf: ConfigKey, value: string, inForce: Config): boolean {
  const current: unknown = getProperty(inForce, leaf.key)
  if (typeof current === 'string' && redactUrl(current) !== current && redactUrl(current) === value) return true
  if (value.includes(`:${REDACTED}@`) || value.includes(`password=${REDACTED}`)) {
    const message = `${leaf.key}: its password is redacted; send the whole URL, or omit the key to keep it.`
    throw new GazewayError('validation_failed', message, { param: leaf.key })
  }
  return false
}

function refuseReserved(record: ConfigKey, entries: unknown): void {
  const reserved = Object.keys(Object(entries)).find((name) => RESERVED.has(name))
  if (reserved !== undefined) throw unknownKey(`${record.key}.${reserved}`)
}

/** New entries of a secret record. Redacted ones keep their current value. */
function withKeptEntries(value: unknown, current: Record<string, unknown> = {}): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const kept = Object.entries(value).map(([name, entry]) => [name, entry === REDACTED ? current[name] : entry])
  return Object.fromEntries(kept.filter(([, entry]) => entry !== undefined))
}

function unknownKey(key: string): GazewayError {
  const shown = cut(key, 0, 80).replace(/\p{Cc}/gu, '?')
  return new GazewayError(
    'unknown_config_key',
    `${shown} is not a configuration key; the nearest is ${nearestKey(shown)}.`,
    {
      param: shown,
    },
  )
}
