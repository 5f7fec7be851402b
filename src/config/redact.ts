import { getProperty, setProperty } from 'dot-prop'
import { CONFIG_KEYS } from './config-keys.ts'
import type { Config } from './config-schema.ts'

/** Replacement of a secret. */
export const REDACTED = '***'

/**
 * Length from which secrets are redacted inside text. Shorter ones occur in ordinary words, and are redacted only where
 * they are set.
 */
const SHORTEST_SECRET = 8
/** Matches a path segment that looks like a key: long, and with digits. */
const KEY_IN_PATH = /^(?=.*\d)[\w~%.-]{16,}$/

// Every quantifier is bounded, so that no text makes a pattern slow.
const PATTERNS: readonly [RegExp, string][] = [
  [/\b(gzw_|sk-|sk_|xai-)[\w-]{12,}/g, `$1${REDACTED}`],
  [/\b(bearer\s{1,4})(?=[^\s"]{0,200}\d)[\w.~+/=-]{8,}/gi, `$1${REDACTED}`],
  [
    /("(?:(?:proxy-)?authorization|x-(?:goog-)?api-key|api[_-]?key|cookie|set-cookie|password)"\s{0,4}:\s{0,4})"(?:[^"\\]|\\.){1,8192}"/gi,
    `$1"${REDACTED}"`,
  ],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/?#@"]{0,256}):[^\s@/"]{1,256}@/gi, `$1:${REDACTED}@`],
]

/** Replaces every secret in `config` by `***`. Unset ones stay null. */
export function redactConfig(config: Config): Config {
  const shown = structuredClone(config)
  for (const { key, secret, secretFields, hasEntries } of CONFIG_KEYS) {
    const value: unknown = getProperty(config, key)
    for (const entry of entriesOf(getProperty(shown, key), secretFields))
      for (const field of secretFields) entry[field] = redactField(entry[field])
    if (secret === null || value === null) continue
    if (secret === 'url') setProperty(shown, key, redactUrl(String(value)))
    else setProperty(shown, key, hasEntries ? redactEntries(value as Record<string, string>) : REDACTED)
  }
  return shown
}

/**
 * Replaces the password of `url`, and a `password` in its query, by `***`.
 *
 * @example redactUrl('postgres://me:secret@db/gazeway') // 'postgres://me:***@db/gazeway'
 */
export function redactUrl(url: string): string {
  if (passwordsOf(url).length === 0) return url
  const redacted = new URL(url)
  if (redacted.password !== '') redacted.password = REDACTED
  if (redacted.searchParams.has('password')) redacted.searchParams.set('password', REDACTED)
  return redacted.href
}

/** Secret values in `config`, longest first, for {@link redactText}. */
export function secretsOf(config: Config): string[] {
  const secrets = CONFIG_KEYS.flatMap(({ key, secret, secretFields, hasEntries }) => {
    const value: unknown = getProperty(config, key)
    if (secretFields.length > 0)
      return entriesOf(value, secretFields)
        .flatMap((entry) => secretFields.flatMap((field) => valuesOf(entry[field])))
        .flatMap(withKeysOf)
    if (secret === null || value === null) return []
    if (secret === 'url') return passwordsOf(String(value))
    return (hasEntries ? Object.values(value as Record<string, string>) : [String(value)]).flatMap(withKeysOf)
  })
  const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET)
  return [...new Set(long)].sort((a, b) => b.length - a.length)
}

/**
 * Redacts `text`: known `secrets`, and anything that looks like a credential (Gazeway and provider keys, bearer tokens,
 * authorization headers in JSON, passwords in URLs). For logs, errors and records.
 *
 * @param secrets known values, longest first
 */
export function redactText(text: string, secrets: readonly string[]): string {
  const known = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
  return PATTERNS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), known)
}

/**
 * A secret, and for a URL the secrets in it: its normalized form, its credentials, query values, and path segments that
 * look like keys. Servers quote those in their replies.
 */
export function withKeysOf(secret: string): string[] {
  if (!/^https?:/i.test(secret) || !URL.canParse(secret)) return [secret]
  const { href, username, password, searchParams, pathname } = new URL(secret)
  const given = [username, decoded(username), password, decoded(password), ...searchParams.values()]
  const keys = pathname.split('/').filter((part) => KEY_IN_PATH.test(part))
  return [secret, href, ...given, ...keys].filter((text) => text.length >= SHORTEST_SECRET)
}

/** Entries of a record of objects with secret fields. */
const entriesOf = (value: unknown, secretFields: readonly string[]): Record<string, unknown>[] =>
  secretFields.length === 0 ? [] : Object.values(value as Record<string, Record<string, unknown>>)

/** Values of a secret field of an entry: one secret, or several. */
const valuesOf = (field: unknown): string[] =>
  typeof field === 'string' ? [field] : Object.values(Object(field)).map(String)

/** Redacts a secret, a list of secrets, or secrets by name. */
function redactField(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? null : REDACTED
  return Array.isArray(value) ? value.map(() => REDACTED) : redactEntries(value as Record<string, string>)
}

function redactEntries(entries: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.keys(entries).map((name) => [name, REDACTED]))
}

/** Passwords in `url`, as written and percent-decoded. */
function passwordsOf(url: string): string[] {
  if (!URL.canParse(url)) return []
  const { password, searchParams } = new URL(url)
  const parameter = searchParams.get('password') ?? ''
  const written = [password, decoded(password), parameter, encodeURIComponent(parameter)]
  return [...new Set(written)].filter((text) => text !== '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone "%" is a legal character of a password as written.
    return text
  }
}
