import { deleteProperty, getProperty, setProperty } from 'dot-prop'
import { isObject } from '../text/json.ts'
import { CONFIG_KEYS, configKey } from './config-keys.ts'
import type { Config, ConfigDocument } from './config-schema.ts'

/** Configuration key → the value that is laid over what is below, already checked; null is the default. */
export type Layer = ReadonlyMap<string, unknown>

/** An address, and what was given for it alone. */
const GIVEN_FOR: readonly (readonly [address: string, given: readonly string[]])[] = [
  ['upstream.provider', ['upstream.api_key', 'upstream.headers']],
  ['agent_gateway.url', ['agent_gateway.key']],
]

/** `document` with a layer over it; what was given for an address that the layer changes is gone. */
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
 * `next` without the secrets that were given for an address which it no longer has: a key is never sent to another
 * server than the one that it was written for.
 *
 * @param isGiven whether a secret was given together with the new address
 */
export function withoutForeignSecrets(
  before: ConfigDocument,
  next: ConfigDocument,
  isGiven: (key: string) => boolean,
): ConfigDocument {
  const kept = structuredClone(next)
  for (const secret of foreignSecrets(before, next)) if (!isGiven(secret)) deleteProperty(kept, secret)
  return kept
}

/** The keys of what was given for addresses that are others in `next`. */
export function foreignSecrets(before: ConfigDocument, next: ConfigDocument): string[] {
  const changed = GIVEN_FOR.filter(([address]) => addressAt(before, address) !== addressAt(next, address))
  return changed.flatMap(([, secrets]) => secrets)
}

/**
 * The secrets that are new in `next` and lie there beside another address than the one in force: they would go to that once
 * what is over it is gone. Not where the sandbox is in force, which no key is for.
 */
export function straySecrets(before: ConfigDocument, next: ConfigDocument, inForce: Config): string[] {
  const isNew = (key: string) => holdsMore(getProperty(next, key), getProperty(before, key))
  const isForNone = (key: string) => key.startsWith('upstream.') && inForce.upstream.provider === 'sandbox'
  return foreignSecrets(inForce, next).filter((key) => isNew(key) && !isForNone(key))
}

/** Whether a value, or one of its entries, is there that was not. */
function holdsMore(now: unknown, before: unknown): boolean {
  if (!isObject(now)) return now !== undefined && now !== before
  return Object.entries(now).some(([name, value]) => !isObject(before) || before[name] !== value)
}

/** What is given for one address alone. */
export const SECRETS_OF_ADDRESSES = GIVEN_FOR.flatMap(([, secrets]) => secrets)

/** The address that a secret is given for. */
export const addressOf = (secret: string): string | undefined =>
  GIVEN_FOR.find(([, secrets]) => secrets.includes(secret))?.[0]

/** An address, the same with a slash at its end. */
function addressAt(document: ConfigDocument, key: string): unknown {
  const address = getProperty(document, key) ?? configKey(key)?.schema.parse(undefined)
  return typeof address === 'string' && address.endsWith('/') ? address.slice(0, -1) : address
}
