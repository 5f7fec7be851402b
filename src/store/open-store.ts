import { GazewayError } from '../errors.ts'
import type { Store } from './store.ts'

/**
 * Opens the store that `url` names.
 *
 * @param url `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE` (`postgresql://` is the same)
 * @throws GazewayError `config_invalid` for another kind of address
 */
export async function openStore(url: string): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite/sqlite.ts')
    return openSqlite(url.slice('sqlite:'.length))
  }
  if (/^postgres(ql)?:/.test(url)) {
    const { openPostgres } = await import('./postgres/postgres.ts')
    return openPostgres(url)
  }
  throw new GazewayError(
    'config_invalid',
    `The store must be sqlite:PATH or postgres://HOST/DATABASE, not ${url.split(':')[0]}:….`,
    { param: 'store' },
  )
}
