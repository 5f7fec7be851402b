import type { z } from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { createKeys, KeyId, type KeyRecord, type Keys, NewKey, Scope, WalletAddress } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { accepts } from '../../src/text/accepted.ts'
import { Amount } from '../../src/text/money.ts'
import { readBalances } from '../../src/wallet/account-balances.ts'
import { bindWallet, unbindWallet } from '../../src/wallet/bind-wallet.ts'
import { createLimits } from '../../src/wallet/limits.ts'
import { explain } from '../../src/wire/validation.ts'

/** Keys that are read at a time for the table. */
const PAGE = 1000

/** What a key is made from on the command line, as commander names it. */
export interface KeyFlags {
  name: string
  /** Separated by commas. */
  scope: string
  wallet?: string
  creditLimit?: string
  dailyLimit?: string
}

/**
 * Makes a key and prints it on stdout, and nothing else there, so that a script can take it.
 *
 * @throws GazewayError `validation_failed` with the flag in `param`
 */
export async function createKey(loaded: LoadedConfig, log: Log, flags: KeyFlags): Promise<void> {
  const daily = limit('--daily-limit', flags.dailyLimit)
  const input = {
    name: checked('--name', NewKey.shape.name, flags.name),
    scopes: flags.scope.split(',').map((scope) => checked('--scope', Scope, scope.trim())),
    wallet: flags.wallet === undefined ? null : checked('--wallet', WalletAddress, flags.wallet),
    limits: {
      credit_limit_usd: limit('--credit-limit', flags.creditLimit),
      budgets: daily === null ? [] : [{ usd: daily, per: 'day' as const }],
    },
  }
  const { key, record } = await withKeys(loaded, log, (keys) => keys.create(input))
  process.stdout.write(`${key}\n`)
  process.stderr.write(
    `This is the key of ${record.name} (${record.id}, ${record.scopes.join(', ')}). It is not shown again.\n`,
  )
}

/** Prints all keys, newest first, as a table. */
export async function listKeys(loaded: LoadedConfig, log: Log): Promise<void> {
  const records = await withKeys(loaded, log, allKeys)
  if (records.length === 0)
    process.stderr.write('There are no keys yet. Make one with: gazeway key create --name NAME\n')
  else process.stdout.write(table(records))
}

/**
 * Revokes a key; running servers refuse it within 5 s.
 *
 * @throws GazewayError `not_found`, or `validation_failed` when `id` is not one, which is then not repeated: it may be a key
 */
export async function revokeKey(loaded: LoadedConfig, log: Log, id: string): Promise<void> {
  const known = checked('ID', KeyId, id)
  const { name, left } = await withKeys(loaded, log, async (keys, store) => {
    const record = await keys.revoke(known)
    return { ...record, left: await readBalances(store, known, createLimits(store, 0).of) }
  })
  process.stderr.write(`${id} (${name}) is revoked. Servers that are running refuse it within 5 seconds.\n`)
  const { available_usd, held_usd, escrow_usd } = left
  if (available_usd > 0 || held_usd > 0 || escrow_usd > 0)
    process.stderr.write(
      `It still has ${available_usd} USD, ${held_usd} set aside for calls and ${escrow_usd} in escrow, out of reach. ` +
        'See "Keys that are revoked" in docs/wallet.md.\n',
    )
}

async function withKeys<T>(loaded: LoadedConfig, log: Log, work: (keys: Keys, store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(loaded.storeUrl)
  const onError = (err: unknown) => log.error('Keys could not be read or noted.', { err })
  try {
    return await work(
      createKeys({
        store,
        now: () => new Date(),
        fixedKey: null,
        billing: () => loaded.config.wallet.billing,
        onBound: bindWallet,
        onUnbound: unbindWallet,
        onError,
      }),
      store,
    )
  } finally {
    await store.close()
  }
}

async function allKeys(keys: Keys): Promise<KeyRecord[]> {
  const records: KeyRecord[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await keys.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    records.push(...page.items)
    cursor = page.next_cursor
  }
  return records
}

function checked<S extends z.ZodType>(flag: string, schema: S, value: string): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new GazewayError('validation_failed', explain(result.error, schema, value, flag).message, { param: flag })
}

/** An amount as it is written: a number that was rounded to 6 decimals would no longer be what was asked for. */
function limit(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const amount = /^\d{1,15}(\.\d{1,6})?$/.test(text) ? Amount.safeParse(Number(text)) : undefined
  if (amount?.success) return amount.data
  throw new GazewayError('validation_failed', `${flag}: not accepted; accepted: ${accepts(Amount)}.`, { param: flag })
}

function table(records: readonly KeyRecord[]): string {
  const head = ['ID', 'NAME', 'SCOPES', 'WALLET', 'CREDIT USD', 'DAILY USD', 'CREATED', 'LAST USED', 'REVOKED']
  const rows = records.map((record) =>
    [
      record.id,
      record.name,
      record.scopes.join(','),
      record.wallet,
      record.limits.credit_limit_usd,
      record.limits.budgets.find(({ per }) => per === 'day')?.usd,
      record.created_at,
      record.last_used_at,
      record.revoked_at,
    ].map((value) => String(value ?? '-')),
  )
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')
  return [head, ...rows].map((cells) => `${line(cells).trimEnd()}\n`).join('')
}
