import { alertWarnings } from '../../src/alerts/silent-alerts.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Config } from '../../src/config/config-schema.ts'
import type { Log } from '../../src/config/log.ts'
import { Billing } from '../../src/config/sections/wallet-section.ts'
import { GazewayError } from '../../src/errors.ts'
import { KeyRotation } from '../../src/identity/key.ts'
import { KeyCache, type KeyRecord, NewKey, Scope, unknownKey, WalletAddress } from '../../src/identity/keys.ts'
import { modelWarnings } from '../../src/identity/model-warnings.ts'
import { createProvider } from '../../src/inference/upstreams/create-provider.ts'
import { namedConfigs } from '../../src/inference/upstreams/upstream-configs.ts'
import { toUsd } from '../../src/text/money.ts'
import { forgiveDebts } from '../../src/wallet/budget/forgive-debts.ts'
import { releasePresumed } from '../../src/wallet/budget/presumed-spending.ts'
import { createLimits } from '../../src/wallet/budget/spending-limits.ts'
import { burnList, burnTerms } from '../../src/wallet/burn/burn.ts'
import { readBalances } from '../../src/wallet/ledger/account-balances.ts'
import { burnTable } from './burn-table.ts'
import { checked } from './flag-value.ts'
import { alertsIn, endIn, graceIn, type LimitFlags, limitsIn, modelsIn } from './key-flags.ts'
import { keyIdOf, keyReference } from './key-reference.ts'
import { keyTable } from './key-table.ts'
import { warn } from './warn.ts'
import { all, printList, withKeys, withStoredKeys } from './with-keys.ts'

const ScopeFlag = Scope.meta({ accepted: `${Scope.options.join(', ')}, or several of them with commas` })

const NO_KEYS = 'No keys yet. Create one with: gazeway key create --name NAME\n'

/** Flags of a new key, as commander names them. */
export interface KeyFlags extends LimitFlags {
  name: string
  /** Comma-separated. */
  scope: string
  wallet?: string
  group?: string
  billing?: string
  alert?: string[]
  models?: string
  lenient?: boolean
  cache?: string
  expires?: string
}

/** Flags of `gazeway key edit`. `group` is false with `--no-group`. */
export interface KeyChangeFlags extends LimitFlags {
  name?: string
  group?: string | false
  billing?: string
  alert?: string[]
  models?: string
  lenient?: boolean
  cache?: string
  expires?: string
}

/**
 * Creates a key and prints it on stdout. Prints nothing else there, so that a script can read the key.
 *
 * @throws GazewayError `validation_failed` with the flag in `param`
 */
export async function createKey(loaded: LoadedConfig, log: Log, flags: KeyFlags): Promise<void> {
  const input = {
    name: checked('--name', NewKey.shape.name, flags.name),
    scopes: flags.scope.split(',').map((scope) => checked('--scope', ScopeFlag, scope.trim())),
    wallet: flags.wallet === undefined ? null : checked('--wallet', WalletAddress, flags.wallet),
    group: flags.group ?? null,
    limits: limitsIn(flags),
    ...termsIn(flags),
  }
  await withKeys(loaded, log, async ({ keys, config }) => {
    const { key, record } = await keys.create(input)
    warn([...globWarnings(input.models, config), ...alertWarnings(termsOf(record), config.alerts)])
    process.stdout.write(`${key}\n`)
    process.stderr.write(
      `Created the key ${record.name} (${record.id}, ${record.scopes.join(', ')}). The key is not shown again.\n`,
    )
  })
}

/**
 * Changes the settings of a key that the flags name. Running servers apply the change within 5 s.
 *
 * @param idOrName its id, or its name when no other key has it
 * @throws GazewayError `not_found`, `conflict` for a revoked key or an ambiguous name, and as {@link createKey}
 */
export async function editKey(loaded: LoadedConfig, log: Log, idOrName: string, flags: KeyChangeFlags): Promise<void> {
  const reference = keyReference(idOrName)
  const limits = limitsIn(flags)
  const change = {
    ...(flags.name !== undefined && { name: checked('--name', NewKey.shape.name, flags.name) }),
    ...(flags.group !== undefined && { group: flags.group === false ? null : flags.group }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...termsIn(flags),
  }
  if (Object.keys(change).length === 0)
    throw new GazewayError('validation_failed', 'Nothing to change; `gazeway key edit --help` lists the options.', {
      param: '--help',
    })
  await withStoredKeys(loaded, log, async ({ keys, groups, config }) => {
    const record = await keys.change(await keyIdOf(keys, reference), change)
    warn([...globWarnings(change.models, config), ...alertWarnings(termsOf(record), config.alerts)])
    process.stdout.write(keyTable([record], await all(groups.list)))
    process.stderr.write('Running servers apply the change within 5 seconds.\n')
  })
}

/**
 * Gives a key a new secret. Prints the new key on stdout, and nothing else there.
 *
 * @param idOrName its id, or its name when no other key has it
 * @throws GazewayError `not_found`, `conflict` for a revoked or expired key or an ambiguous name, `validation_failed`
 */
export async function rotateKey(
  loaded: LoadedConfig,
  log: Log,
  idOrName: string,
  flags: { grace: string },
): Promise<void> {
  const reference = keyReference(idOrName)
  const grace_seconds = graceIn(flags.grace, KeyRotation.shape.grace_seconds)
  const { key, record, previousExpiresAt, keyFile } = await withStoredKeys(loaded, log, async ({ keys }) =>
    keys.rotate(await keyIdOf(keys, reference), { grace_seconds }),
  )
  process.stdout.write(`${key}\n`)
  const before =
    previousExpiresAt === null
      ? 'Running servers refuse the old secret within 5 seconds.'
      : `The old secret works until ${previousExpiresAt}.`
  process.stderr.write(`Rotated the key ${record.name} (${record.id}). The new key is not shown again. ${before}\n`)
  if (keyFile !== null) process.stderr.write(`Wrote the new key to ${keyFile}.\n`)
}

/** Prints all keys, newest first, as a table or as JSON. */
export async function listKeys(loaded: LoadedConfig, log: Log, { json }: { json?: boolean }): Promise<void> {
  await withStoredKeys(loaded, log, async ({ keys, groups }) => {
    const records = await all(keys.list)
    if (json) printList(records)
    else if (records.length === 0) process.stderr.write(NO_KEYS)
    else process.stdout.write(keyTable(records, await all(groups.list)))
  })
}

/** Prints the keys in force and the groups, ordered by the time until they run out of money. */
export async function listBurn(loaded: LoadedConfig, log: Log, { json }: { json?: boolean }): Promise<void> {
  await withStoredKeys(loaded, log, async ({ store, now, config }) => {
    const burns = await all((page) => burnList({ store, now, ...burnTerms(config) }, page))
    if (json) printList(burns)
    else if (burns.length === 0) process.stderr.write(NO_KEYS)
    else process.stdout.write(burnTable(burns))
  })
}

/**
 * Revokes a key. Running servers refuse it within 5 s.
 *
 * @param idOrName its id, or its name when no other key has it
 * @throws GazewayError `not_found`, `conflict` for an ambiguous name, `validation_failed` for other text. The message
 *   leaves the text out, because it may be a key.
 */
export async function revokeKey(loaded: LoadedConfig, log: Log, idOrName: string): Promise<void> {
  const reference = keyReference(idOrName)
  const { id, name, left } = await withStoredKeys(loaded, log, async ({ keys, store }) => {
    const record = await keys.revoke(await keyIdOf(keys, reference))
    return {
      ...record,
      left: await readBalances(store, record.id, { limitsOf: createLimits(store, 0).of, now: new Date() }),
    }
  })
  process.stderr.write(`Revoked the key ${name} (${id}). Running servers refuse it within 5 seconds.\n`)
  const { available_usd, held_usd, escrow_usd } = left
  if (available_usd > 0 || held_usd > 0 || escrow_usd > 0)
    process.stderr.write(
      `Money left on the revoked key, which cannot be spent: ${available_usd} USD available, ${held_usd} USD reserved for calls, ${escrow_usd} USD in escrow. ` +
        'See "Keys that are revoked" in docs/reference/wallet.md.\n',
    )
}

/**
 * Forgives the debts of the budgets of a key.
 *
 * @throws GazewayError `not_found`, `conflict` for an ambiguous name
 */
export async function forgiveKey(loaded: LoadedConfig, log: Log, idOrName: string): Promise<void> {
  const reference = keyReference(idOrName)
  const forgiven = await withStoredKeys(loaded, log, async ({ keys, store, now }) => {
    const id = await keyIdOf(keys, reference)
    if ((await keys.find(id)) === null) throw unknownKey()
    return forgiveDebts(store, id, now())
  })
  process.stderr.write(`Forgave ${toUsd(forgiven)} USD that the budgets of the key owed.\n`)
}

/**
 * Releases what is presumed spent of a key.
 *
 * @throws GazewayError `not_found`, `conflict` for an ambiguous name
 */
export async function releaseKey(loaded: LoadedConfig, log: Log, idOrName: string): Promise<void> {
  const reference = keyReference(idOrName)
  const released = await withStoredKeys(loaded, log, async ({ keys, store }) => {
    const id = await keyIdOf(keys, reference)
    if ((await keys.find(id)) === null) throw unknownKey()
    return releasePresumed(store, id)
  })
  process.stderr.write(`Released ${toUsd(released)} USD that was presumed spent of the key.\n`)
}

type TermFlags = Pick<KeyFlags, 'billing' | 'alert' | 'models' | 'lenient' | 'cache' | 'expires'>

/** Reads the flags for billing, alerts, models, leniency, caches and expiry. An absent flag sets nothing. */
function termsIn({ billing, alert, models, lenient, cache, expires }: TermFlags) {
  return {
    ...(alert !== undefined && { alerts: alertsIn(alert) }),
    ...(billing !== undefined && { billing: checked('--billing', Billing, billing) }),
    ...(models !== undefined && { models: modelsIn(models) }),
    ...(lenient !== undefined && { lenient }),
    ...(cache !== undefined && { cache: checked('--cache', KeyCache, cache) }),
    ...(expires !== undefined && { expires_at: endIn(expires, new Date()) }),
  }
}

/** Terms of a key that alerts depend on. */
const termsOf = ({ alerts, limits }: KeyRecord) => ({ alerts, budgets: limits.budgets })

/** Warns about globs that match no model of the configuration. Sends no request to the upstream. */
function globWarnings(globs: readonly string[] | null | undefined, config: Config): string[] {
  const named = namedConfigs(config).flatMap((one) => createProvider(one).aliases.map((alias) => `${one.id}/${alias}`))
  const routed = config.routes.map(({ model }) => model).filter((model) => !model.includes('*'))
  const known = [...createProvider(config.upstream).aliases, ...named, ...routed, ...Object.keys(config.pricing.models)]
  return modelWarnings(globs ?? [], known)
}
