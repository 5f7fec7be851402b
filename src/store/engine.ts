import { GazewayError } from '../errors.ts'

/**
 * The engines that the same queries run on. What differs between them is looked up by this name, so that an engine that is
 * added here does not compile before it is everywhere.
 */
export type Engine = 'sqlite' | 'postgres'

/** Whether a URL names a store of the engine. */
const IS_URL: Readonly<Record<Engine, (url: string) => boolean>> = {
  sqlite: (url) => /^sqlite:./.test(url),
  postgres: (url) => /^postgres(ql)?:\/\/./.test(url) && URL.canParse(url),
}

const found = (url: string): Engine | undefined =>
  (Object.keys(IS_URL) as Engine[]).find((engine) => IS_URL[engine](url))

/** Whether `text` names a store: `sqlite:PATH`, `postgres://…` or `postgresql://…`. */
export const isStoreUrl = (text: string): boolean => found(text) !== undefined

/** The engine of the store that `url` names. @throws GazewayError `config_invalid` for another kind of address */
export function engineOf(url: string): Engine {
  const engine = found(url)
  if (engine !== undefined) return engine
  throw new GazewayError(
    'config_invalid',
    `The store must be sqlite:PATH or postgres://HOST/DATABASE, not ${url.split(':')[0]}:….`,
    { param: 'store' },
  )
}
