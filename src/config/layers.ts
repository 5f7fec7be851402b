import { deleteProperty, getProperty, setProperty } from 'dot-prop'
import { CONFIG_KEYS } from './keys.ts'
import type { ConfigDocument } from './schema.ts'

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
  for (const { key, path } of CONFIG_KEYS) {
    if (!layer.has(key)) continue
    const value = layer.get(key)
    if (value === null) deleteProperty(laid, path)
    else setProperty(laid, path, structuredClone(value))
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
  for (const [address, secrets] of GIVEN_FOR) {
    if (valueAt(before, address) === valueAt(next, address)) continue
    for (const secret of secrets) if (!isGiven(secret)) deleteProperty(kept, secret)
  }
  return kept
}

const DEFAULTS = new Map(CONFIG_KEYS.map(({ key, schema }) => [key, schema.parse(undefined)]))

function valueAt(document: ConfigDocument, key: string): unknown {
  return getProperty(document, key) ?? DEFAULTS.get(key)
}
