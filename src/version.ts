import { readFileSync } from 'node:fs'

/** Gazeway's version, as its package.json says; the build writes it in. */
declare const GAZEWAY_VERSION: string | undefined

/** The running version, for example `0.1.0`. */
export const VERSION: string =
  typeof GAZEWAY_VERSION === 'string'
    ? GAZEWAY_VERSION
    : JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
