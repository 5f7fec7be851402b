import { deleteProperty, getProperty, setProperty } from 'dot-prop'
import { isObject } from '../text/json.ts'
import { CONFIG_KEYS, DEFAULTS } from './config-keys.ts'
import type { Config, ConfigDocument } from './config-schema.ts'

/** Validated values that override the document below, by configuration key. Null is the default. */
export type Layer = ReadonlyMap<string, unknown>

/** Addresses, and the secrets that belong to each. */
const GIVEN_FOR: readonly (readonly [address: string, given: readonly string[]])[] = [
  ['upstream.provider', ['upstream.api_key', 'upstream.headers']],
  ['agent_gateway.url', ['agent_gateway.key']],
]

/** Applies a layer to `document`. Secrets of an address that the layer changes are removed. */
export function layOver(document: ConfigDocument, layer: Layer): ConfigDocument {
  const laid = structuredClone(document)
  for (const { key } of CONFIG_KEYS) {
    if (!layer.has(key)) continue
    const value = layer.get(key)
    if (value === null) deleteProperty(laid, key)
    else setProperty(laid, key, structuredClone(value))
  }
  return withoutForeignSecrets(document, laid, (key) => layer.has(key))
}

/**
 * Removes from `next` the secrets of addresses that changed, so that a key is never sent to another server than its
 * own.
 *
 * @param isGiven tells whether a secret, or one entry of several, was given together with the new address
 */
export function withoutForeignSecrets(
  before: ConfigDocument,
  next: ConfigDocument,
  isGiven: (key: string, entry?: string) => boolean,
): ConfigDocument {
  const kept = structuredClone(next)
  for (const secret of foreignSecrets(before, next)) {
    const value: unknown = getProperty(kept, secret)
    const given = isObject(value) ? Object.entries(value).filter(([entry]) => isGiven(secret, entry)) : []
    if (given.length > 0) setProperty(kept, secret, Object.fromEntries(given))
    else if (isObject(value) || !isGiven(secret)) deleteProperty(kept, secret)
  }
  return kept
}

/** Finds secrets that belong to another address in `next`. */
export function foreignSecrets(before: ConfigDocument, next: ConfigDocument): string[] {
  const changed = GIVEN_FOR.filter(([address]) => addressAt(before, address) !== addressAt(next, address))
  return changed.flatMap(([, secrets]) => secrets)
}

/**
 * New secrets in `next` that are stored beside an address that an override replaces. Without the override, they would
 * be sent to that stored address. None while the sandbox is in force, as no key belongs to it.
 */
export function straySecrets(before: ConfigDocument, next: ConfigDocument, inForce: Config): string[] {
  const isNew = (key: string) => holdsMore(getProperty(next, key), getProperty(before, key))
  const isForNone = (key: string) => key.startsWith('upstream.') && inForce.upstream.provider === 'sandbox'
  return foreignSecrets(inForce, next).filter((key) => isNew(key) && !isForNone(key))
}

/** Tells whether a value, or one of its entries, was added. */
function holdsMore(now: unknown, before: unknown): boolean {
  if (!isObject(now)) return now !== undefined && now !== before
  return Object.entries(now).some(([name, value]) => !isObject(before) || before[name] !== value)
}

/** Secrets that belong to one address only. */
export const SECRETS_OF_ADDRESSES = GIVEN_FOR.flatMap(([, secrets]) => secrets)

/** Address that a secret belongs to. */
export const addressOf = (secret: string): string | undefined =>
  GIVEN_FOR.find(([, secrets]) => secrets.includes(secret))?.[0]

/** Value of an address, without trailing slash. */
function addressAt(document: ConfigDocument, key: string): unknown {
  const address: unknown = getProperty(document, key) ?? getProperty(DEFAULTS, key)
  return typeof address === 'string' && address.endsWith('/') ? address.slice(0, -1) : address
}

/** Values that `changes` contains for `key` itself, dotted or inside a section. */
export function valuesAt(changes: Readonly<Record<string, unknown>>, key: string): unknown[] {
  return Object.entries(changes).flatMap(([name, value]) => {
    if (name === key) return [value]
    return key.startsWith(`${name}.`) && isObject(value) ? valuesAt(value, key.slice(name.length + 1)) : []
  })
}

/** Values that `changes` contains for `key` and its entries, dotted or inside a section. */
export function valuesFor(changes: Readonly<Record<string, unknown>>, key: string): unknown[] {
  return Object.entries(changes).flatMap(([name, value]) => {
    if (name === key || name.startsWith(`${key}.`)) return [value]
    if (!key.startsWith(`${name}.`) || typeof value !== 'object' || value === null) return []
    return valuesFor(value as Record<string, unknown>, key.slice(name.length + 1))
  })
}
