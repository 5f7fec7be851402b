import { lazily } from '../lazily.ts'
import { type Engine, engineOf } from './engine.ts'
import type { Store } from './store.ts'

const loadSqlite = lazily(() => import('./sqlite/sqlite.ts'))
const loadPostgres = lazily(() => import('./postgres/postgres.ts'))

/** Openers by engine, each loaded on use. */
const OPEN: Readonly<Record<Engine, (url: string) => Promise<Store>>> = {
  sqlite: async (url) => (await loadSqlite()).openSqlite(url.slice('sqlite:'.length)),
  postgres: async (url) => (await loadPostgres()).openPostgres(url),
}

/**
 * Opens a store.
 *
 * @param url `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE` (`postgresql://` is the same)
 * @throws GazewayError `config_invalid` for another kind of address
 */
export async function openStore(url: string): Promise<Store> {
  return OPEN[engineOf(url)](url)
}
