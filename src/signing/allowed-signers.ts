import { GazewayError } from '../errors.ts'
import { type SshKey, sshKey } from './ssh-key.ts'

/** One line of an allowed signers file: a key, whose it is, and what it may sign when. */
export interface AllowedSigner {
  /** Patterns of names; one that begins with `!` excludes. */
  principals: string[]
  /** Patterns of namespaces; null allows all. */
  namespaces: string[] | null
  /** Start and end of its validity; null is open. */
  validAfter: Date | null
  validBefore: Date | null
  key: SshKey
}

const LINE = /^("[^"]*"|\S+)\s+(?:((?:"[^"]*"|[^\s"])+)\s+)?((?:ssh|ecdsa|sk)-\S+)\s+([A-Za-z0-9+/]+=*)/
const OPTION = /([a-z-]+)(?:="([^"]*)")?/gi
const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/

/**
 * Reads an allowed signers file of OpenSSH (ssh-keygen(1), ALLOWED SIGNERS). Keys of types that sign no receipts, and
 * certificate authorities, are skipped.
 *
 * @throws GazewayError `validation_failed` naming the line that is not one
 */
export function parseAllowedSigners(text: string): AllowedSigner[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return []
    try {
      return signerIn(line.trim())
    } catch (cause) {
      const reason = cause instanceof GazewayError ? cause.message : 'it is no line of principals, options and key.'
      throw new GazewayError('validation_failed', `Allowed signers, line ${index + 1}: ${reason}`, { cause })
    }
  })
}

function signerIn(line: string): AllowedSigner[] {
  const [, principals, options = '', type = '', base64 = ''] = LINE.exec(line) ?? []
  if (principals === undefined) throw new GazewayError('validation_failed', 'it has no principals and key.')
  const given = new Map([...options.matchAll(OPTION)].map(([, name = '', value = '']) => [name.toLowerCase(), value]))
  for (const name of given.keys())
    if (!['namespaces', 'valid-after', 'valid-before', 'cert-authority'].includes(name))
      throw new GazewayError('validation_failed', `the option ${name} is not known.`)
  if (given.has('cert-authority') || type.startsWith('sk-')) return []
  const namespaces = given.get('namespaces')
  return [
    {
      principals: listed(principals.replaceAll('"', '')),
      namespaces: namespaces === undefined ? null : listed(namespaces),
      validAfter: timeIn(given.get('valid-after')),
      validBefore: timeIn(given.get('valid-before')),
      key: sshKey(Buffer.from(base64, 'base64')),
    },
  ]
}

const listed = (text: string): string[] => text.split(',').filter((part) => part !== '')

/** Reads a time: local, as OpenSSH has it, or UTC with a `Z`. */
function timeIn(text: string | undefined): Date | null {
  if (text === undefined) return null
  const [, year, month, day, hour = '00', minute = '00', second = '00', zone = ''] = TIME.exec(text) ?? []
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`)
  if (Number.isNaN(time.getTime())) throw new GazewayError('validation_failed', `${text} is no time.`)
  return time
}

const REVOKED = /^(?:ssh|ecdsa|sk)-\S+\s+([A-Za-z0-9+/]+=*)(?:\s|$)/

/**
 * Reads the keys of a file of revoked keys: public keys, one a line. Other forms are refused, as a key that was skipped would
 * stay valid.
 *
 * @throws GazewayError `validation_failed` naming the line that is no public key
 */
export function parseRevokedKeys(text: string): Set<string> {
  const keys = text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return []
    const [, base64] = REVOKED.exec(line.trim()) ?? []
    if (base64 !== undefined) return [Buffer.from(base64, 'base64').toString('base64')]
    throw new GazewayError(
      'validation_failed',
      `Revoked keys, line ${index + 1}: it is no public key such as \`ssh-ed25519 AAAA…\`. Names, options, fingerprints and KRLs are ` +
        'not supported here.',
    )
  })
  return new Set(keys)
}

/** Length of the longest name that patterns match: that of an address of e-mail. */
const LONGEST_NAME = 320

/** Tells whether patterns of OpenSSH (ssh_config(5), PATTERNS) match: `*`, `?`, and `!` to exclude. Ignores case. */
export function matchesPatterns(patterns: readonly string[], name: string): boolean {
  if (name.length > LONGEST_NAME) return false
  const matches = (pattern: string) => matchesPattern(pattern.toLowerCase(), name.toLowerCase())
  const excluded = patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)))
  return !excluded && patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern))
}

/**
 * Tells whether one pattern matches. It goes back to the last `*` alone, so that it takes time in proportion to the product of
 * both lengths: a regular expression takes years for some.
 */
function matchesPattern(pattern: string, name: string): boolean {
  let [at, next] = [0, 0]
  let star: { at: number; next: number } | null = null
  while (next < name.length) {
    if (pattern[at] === '*') {
      at += 1
      star = { at, next }
    } else if (pattern[at] === '?' || pattern[at] === name[next]) {
      at += 1
      next += 1
    } else if (star !== null) {
      star.next += 1
      ;({ at, next } = star)
    } else return false
  }
  return [...pattern.slice(at)].every((character) => character === '*')
}

/**
 * Checks that a key may sign as `principal` in a namespace at a time.
 *
 * @returns null when it may; otherwise the reason why not
 */
export function signerFault(
  { namespaces, validAfter, validBefore }: AllowedSigner,
  namespace: string,
  at: Date,
): string | null {
  if (namespaces !== null && !matchesPatterns(namespaces, namespace)) return `the key is not for ${namespace}`
  if (validAfter !== null && at < validAfter) return `the key is valid from ${validAfter.toISOString()}`
  if (validBefore !== null && at >= validBefore) return `the key expired at ${validBefore.toISOString()}`
  return null
}
