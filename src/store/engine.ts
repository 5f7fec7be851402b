import { GazewayError } from '../errors.ts'

/**
 * Database engine. Differences between engines are tables keyed by this name, so that a new engine does not compile
 * until all tables cover it.
 */
export type Engine = 'sqlite' | 'postgres'

const IS_URL: Readonly<Record<Engine, (url: string) => boolean>> = {
  sqlite: (url) => /^sqlite:./.test(url),
  postgres: (url) => /^postgres(ql)?:\/\/./.test(url) && URL.canParse(url),
}

const found = (url: string): Engine | undefined =>
  (Object.keys(IS_URL) as Engine[]).find((engine) => IS_URL[engine](url))

/**
 * Tells whether `text` is a store URL: `sqlite:PATH`, `postgres://…` or `postgresql://…`.
 *
 * @example isStoreUrl('sqlite:/data/gazeway.db') // true
 */
export const isStoreUrl = (text: string): boolean => found(text) !== undefined

/**
 * Engine of a store URL.
 *
 * @throws GazewayError `config_invalid` for another kind of address
 */
export function engineOf(url: string): Engine {
  const engine = found(url)
  if (engine !== undefined) return engine
  throw new GazewayError(
    'config_invalid',
    `The store must be sqlite:PATH or postgres://HOST/DATABASE, not ${url.split(':')[0]}:….`,
    { param: 'store' },
  )
}
