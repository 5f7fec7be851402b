import { readFileSync } from 'node:fs'

/** Data of Gazeway's package.json, which the build inserts. */
declare const GAZEWAY_PACKAGE: { version: string; node: string } | undefined

function readPackage(): { version: string; node: string } {
  const { version, engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return { version, node: engines.node }
}

const { version, node } = typeof GAZEWAY_PACKAGE === 'object' ? GAZEWAY_PACKAGE : readPackage()

/** Running version, for example `0.1.0`. */
export const VERSION: string = version

/** Lowest supported version of Node, for example `20.18.1`. */
export const FIRST_NODE: string = /\d+\.\d+\.\d+/.exec(node)?.[0] ?? node
