import { secretIn } from './secret-text.ts'

/** Longest name of a repository, in characters. */
export const LONGEST_REPOSITORY = 256

/** Name of a repository without a remote: its first commit. */
const ROOT = /^root:[\da-f]{40}(?:[\da-f]{24})?$/
const SCHEME = /^(?:https?|ssh|git|git\+ssh|git\+https?):\/\//i
/** Name of a repository at a port, as {@link repositoryName} makes it. `scp` has no ports. */
const AT_PORT = /^([\w.-]+:\d{1,5}|\[[\da-f:]+\](?::\d{1,5})?)\/(\S+)$/i
/** Address of `scp`. A single letter before the colon is a drive of Windows. */
const SCP = /^(?:[^@/\s]+@)?([\w.-]{2,}):(?!\/\/)(\S+)$/
const PLAIN = /^([\w-]+(?:\.[\w-]+)+(?::\d+)?)\/(\S+)$/
const HOST = /^[\w.-]+(?::\d+)?$|^\[[\da-f:]+\](?::\d+)?$/i
const PATH = /^[\w.~+-][\w.~+/%-]*$/

/** The address of a repository with a name: a name alone may look like a folder. */
export const addressOf = (name: string): string => (name.startsWith('root:') ? name : `https://${name}`)

/**
 * Name of a repository by its remote, the same over all protocols: `host/owner/name`. Credentials, queries and the port
 * of SSH are omitted. `root:SHA`, the name of a repository without a remote, stays.
 *
 * @returns null for a folder, and for an address whose path may hold a secret
 * @example repositoryName('https://token@GitHub.com/ann/shop.git') // 'github.com/ann/shop'
 */
export function repositoryName(remote: string): string | null {
  const text = remote.trim()
  if (text.startsWith('root:')) return ROOT.test(text) ? text : null
  const [host, path] = SCHEME.test(text)
    ? partsOfUrl(text)
    : (AT_PORT.exec(text) ?? SCP.exec(text) ?? PLAIN.exec(text) ?? []).slice(1)
  if (host === undefined || path === undefined || !HOST.test(host)) return null
  const cleaned = path
    .replace(/^\/+/, '')
    .replace(/\/{2,}/g, '/')
    .replace(/(?:\/|\.git)+$/, '')
  if (!PATH.test(cleaned) || cleaned.split('/').includes('..') || secretIn(cleaned) !== null) return null
  const name = `${host.toLowerCase()}/${cleaned}`
  return name.length > LONGEST_REPOSITORY ? null : name
}

function partsOfUrl(text: string): string[] {
  if (!URL.canParse(text)) return []
  const { protocol, hostname, host, pathname } = new URL(text)
  return [/^https?:$/.test(protocol) ? host : hostname, pathname]
}
