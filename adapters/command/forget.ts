import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { forgetCaller } from '../../src/forget/forget.ts'
import { keyIdOf, keyReference } from './key-reference.ts'
import { withStoredKeys } from './with-keys.ts'

/** Flags of the command: a key by id or name, or a caller by the id that chats and receipts have. */
export interface ForgetFlags {
  key?: string
  user?: string
}

/**
 * Erases what a key or a caller wrote, and prints what was erased by table.
 *
 * @throws GazewayError `validation_failed` unless exactly one flag is given, `not_found`, `conflict` for an ambiguous name
 */
export async function forget(loaded: LoadedConfig, log: Log, { key, user }: ForgetFlags): Promise<void> {
  if ((key === undefined) === (user === undefined))
    throw new GazewayError('validation_failed', '--key: name whom to forget, by --key or by --user.', {
      param: '--key',
    })
  const { id, erased } = await withStoredKeys(loaded, log, async ({ keys, store, now }) => {
    // A run that was killed may have revoked the key, and erased nothing yet.
    const found =
      key === undefined ? (user ?? '').toLowerCase() : await keyIdOf(keys, keyReference(key), { orRevoked: true })
    const done = await forgetCaller(found, { store, now, revoke: keys.revoke })
    return { id: found, erased: done }
  })
  const lines = Object.entries(erased).map(([table, rows]) => `${String(rows).padStart(12)}  ${table}\n`)
  process.stdout.write(lines.join(''))
  process.stdout.write(`Forgot ${id}. Ledger, receipts and sums stay. Backups from before still have the rest.\n`)
}
