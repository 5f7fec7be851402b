import { readFileSync } from 'node:fs'

/** Data of Gazeway's package.json as JSON, which the build inserts. An object would be one more file to load. */
declare const GAZEWAY_PACKAGE: string | undefined

function readPackage(): { version: string; node: string } {
  const { version, engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return { version, node: engines.node }
}

const { version, node }: ReturnType<typeof readPackage> =
  typeof GAZEWAY_PACKAGE === 'string' ? JSON.parse(GAZEWAY_PACKAGE) : readPackage()

/** Running version, for example `0.1.0`. */
export const VERSION: string = version

/** Lowest supported version of Node, for example `20.18.1`. */
export const FIRST_NODE: string = /\d+\.\d+\.\d+/.exec(node)?.[0] ?? node
