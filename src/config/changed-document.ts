import { isDeepStrictEqual } from 'node:util'
import { getProperty, setProperty } from 'dot-prop'
import { GazewayError } from '../errors.ts'
import type { LoadedConfig } from './config.ts'
import { differingKeys } from './config-keys.ts'
import type { Config, ConfigDocument } from './config-schema.ts'
import { setDotted } from './dotted.ts'
import { variableOf } from './environment.ts'
import { addressOf, straySecrets, valuesAt, valuesFor, withoutForeignSecrets } from './layers.ts'
import { nameOver } from './overrides.ts'
import { REDACTED } from './redact.ts'

/**
 * Applies changes to a stored document. Secrets of an address that changes are removed, unless they come with it.
 *
 * @param loaded the stored configuration with flags and variables, as it was displayed
 * @throws GazewayError as `setDotted`; `conflict` for a secret without its address, when a flag or variable overrides the
 *   stored address
 */
export function changedDocument(
  document: ConfigDocument,
  changes: Readonly<Record<string, unknown>>,
  loaded: LoadedConfig,
): ConfigDocument {
  const next = setDotted(document, changes, loaded.config)
  for (const secret of straySecrets(document, next, loaded.config)) {
    const address = addressOf(secret) ?? secret
    const [named] = valuesFor(changes, address)
    if (named === undefined) throw forAnother(secret, address, loaded)
    // The address in force is pinned: sent as displayed, it would not count as a change.
    if (named === getProperty(loaded.config, address)) setProperty(next, address, named)
  }
  return withoutForeignSecrets(document, next, (key, entry) =>
    valuesAt(changes, entry === undefined ? key : `${key}.${entry}`).some((value) => value !== REDACTED),
  )
}

/**
 * Error for a secret without its address, while a flag or variable overrides the address: the secret would be stored
 * beside another address.
 */
function forAnother(secret: string, address: string, loaded: LoadedConfig): GazewayError {
  const variable = variableOf(secret)
  const inEnvironment = variable === undefined ? '' : `, or set ${variable} in the environment and restart`
  return new GazewayError(
    'conflict',
    `${secret}: nothing was changed. It would belong to the stored ${address}, but ${nameOver(address, loaded)} sets ` +
      `another one. Send ${address} with it to store both${inEnvironment}.`,
    { param: secret },
  )
}

/** Keys whose value differs in `next`. For a record, its entries. */
export function changedKeys(before: Config, next: Config): string[] {
  return differingKeys(before, next).flatMap(({ key, hasEntries }) => {
    if (!hasEntries) return [key]
    const [old, now]: Record<string, unknown>[] = [getProperty(before, key, {}), getProperty(next, key, {})]
    const names = Object.keys({ ...old, ...now })
    const changed = names.filter((name) => !isDeepStrictEqual(old?.[name], now?.[name]))
    // Without a changed entry, their order is.
    return changed.length === 0 ? [key] : changed.map((name) => `${key}.${name}`)
  })
}
