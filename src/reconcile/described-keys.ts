import type { Account } from './accounts.ts'
import type { BilledKey } from './provider-bill.ts'

/** Keys whose names are asked for. */
const MAX_KEYS = 200

/**
 * Describes the keys on a bill. One is ours when the configuration has its id, or when `read` recognizes it.
 *
 * @param read asks the provider for one; null when it cannot be asked for
 */
export async function describedKeys(
  { keyIds }: Pick<Account, 'keyIds'>,
  ids: readonly string[],
  read: (id: string) => Promise<BilledKey | null>,
): Promise<{ keys: BilledKey[]; notes: string[] }> {
  const keys: BilledKey[] = []
  for (const id of ids) {
    const found = keys.length < MAX_KEYS ? await read(id).catch(() => null) : null
    const isOurs = keyIds.includes(id) || (found?.isOurs ?? null)
    keys.push({ id, name: found?.name ?? null, isOurs })
  }
  const unknown = keys.filter(({ isOurs }) => isOurs === null)
  if (unknown.length === 0) return { keys, notes: [] }
  return {
    keys,
    notes: [
      `The provider does not show ${unknown.length} of ${keys.length} keys any more, or not to this admin key: they are compared as if they were Gazeway's.`,
    ],
  }
}

/** Describes a key, which is ours when one of the configuration's `keys` is it; nobody knows without any. */
export const namedKeys = (
  id: string,
  name: string | null,
  isIt: (key: string) => boolean,
  keys: readonly string[],
): BilledKey => ({ id, name, isOurs: keys.length === 0 ? null : keys.some(isIt) })
