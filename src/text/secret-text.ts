/** Headers of private keys: PEM (RFC 7468), SSH2 and PuTTY. */
export const PRIVATE_KEY = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-\d/

/** Values that stand for a secret, or say where it is kept. */
const PLACEHOLDERS = /(?:process\.env|os\.environ|os\.getenv|1password|keepass(?:xc)?|bitwarden|vault)\b|env[.[(:]/

/** Signs between a name and its value. */
const SIGNS = '=>?|:=?'
const SIGNS_OR_IS = `${SIGNS}|\\bist?\\b`

/**
 * Matches a value after a name, also one that is a part of a longer name (`DB_PASSWORD`, `clientSecret`). The value has a
 * letter and a digit, and none of the characters of a placeholder or a path: `$PASSWORD`, `<token>`, `op://shop/db`.
 *
 * @param names alternatives, case-insensitive. None is in an ARN, which says where a secret is kept
 * @param signs alternatives that stand between the name and the value
 * @param length the least characters of a value
 */
function assigned(names: string, signs: string, length: number): RegExp {
  const value = `(?!${PLACEHOLDERS.source})(?=[^\\s"']{0,100}\\d)(?=[^\\s"']{0,100}[a-z])[^\\s"'<>(){}$*/]{${length}}`
  return new RegExp(`(?<!\\barn:\\S{0,80}:)(?:${names})["']?\\s{0,5}(?:${signs})\\s{0,5}["']?${value}`, 'i')
}

/** Matches names that are also those of other things, such as a colour of a design, beside their value. */
const AMBIGUOUS = assigned('secret|token', SIGNS_OR_IS, 8)

const KEYS = '(?:secret|access|private|account)(?:[ _-]?access)?[ _-]?key'

/** Secrets by their form, each with its name. */
const FORMS: ReadonlyArray<readonly [what: string, form: RegExp]> = [
  ['a private key', PRIVATE_KEY],
  ['an access key of AWS', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a secret key of AWS', /secret_?access_?key["']?\s{0,5}[=:]\s{0,5}["']?[A-Za-z0-9/+]{40}/i],
  ['a token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{50})/],
  ['a token of GitLab', /\bglpat-[\w-]{20}/],
  ['a token of npm', /\bnpm_[A-Za-z0-9]{36}/],
  ['a token of PyPI', /\bpypi-AgE[\w-]{20}/],
  ['a token of Hugging Face', /\bhf_[A-Za-z0-9]{30}/],
  ['a token of Vault', /\bhvs\.[\w-]{20}/],
  ['a token of Slack', /\bxox[abeprs]-[\w-]{10}/],
  ['a webhook of Slack', /\bhooks\.slack\.com\/services\/T\w+\/B\w+\/\w{20}/],
  ['a key of Google', /\bAIza[\w-]{35}/],
  ['a key of Stripe', /\b(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{16}/],
  ['a key of SendGrid', /\bSG\.[\w-]{20,24}\.[\w-]{40}/],
  ['a key of a model provider', /\b(?:(?:sk|xai|pplx)-|gsk_)(?=[\w-]*\d)[\w-]{20}/],
  ['a key of Gazeway', /\bgzw_[0-9a-f]{32}_[\w-]{43}/],
  ['a JSON Web Token', /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10}/],
  ['a token of a request', /\bbearer\s{1,5}(?=[\w.~+/=-]{0,100}\d)(?=[\w.~+/=-]{0,100}[a-z])[\w.~+/=-]{16}/i],
  ['an address with a password', /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,100}:(?![$<{*]|pass|secret)[^\s/@]{4,100}@/i],
  ['a password', assigned('pass(?:wor[dt]|wd|phrase)|kennwort|pwd', SIGNS_OR_IS, 6)],
  // Up to the command's end: `docker run -u 1000:1000` names a user and a group.
  [
    'a password',
    /\bcurl\b(?:(?![;|&]\s)[^\n]){0,200}\s(?:-u|--user)[ =]?["']?[\w.@-]{1,64}:(?=[^\s"']{0,100}\d)[^\s"'$<{*]{6}/,
  ],
  ['a password', assigned('passcode', SIGNS, 6)],
  ['a key or a token', assigned('api(?:[ _-]?access)?[ _-]?key', SIGNS_OR_IS, 8)],
  ['a key or a token', AMBIGUOUS],
  ['a key or a token', assigned(`${KEYS}|credentials?`, SIGNS, 8)],
  // A sentence about a key has a longer value where it says the key itself.
  ['a key or a token', assigned(KEYS, SIGNS_OR_IS, 20)],
]

/** Single words that are no secret under any name: a variable, a method that hashes passwords, a rule for their length. */
const TERMS = [
  /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/,
  /^(?:argon2(?:id|[di])?|bcrypt|scrypt|pbkdf2)(?:[-_:]\d+)*$/i,
  /^(?:min|max)[-_]?\d+[-_]?(?:chars?|characters?)$/i,
]
/** Words that no person would write: of capitals, small letters and digits, or without a mark between many characters. */
const RANDOM = [/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w+=~-]{20,}$/, /^(?=.*[a-z])(?=.*\d)[a-z\d]{24,}$/i]

/** Names the kind of secret that a text seems to hold: "a token of GitHub". Null when it seems to hold none. */
export function secretIn(text: string): string | null {
  return FORMS.find(([, form]) => form.test(text))?.[0] ?? null
}

/**
 * Names the kind of secret that a single word seems to be under the name of something: `hunter2` under `db/password`.
 * Null when it seems to be none.
 */
export function secretUnder(name: string, word: string): string | null {
  if (TERMS.some((term) => term.test(word))) return null
  const text = `${name}: ${word}`
  const isRandom = RANDOM.some((form) => form.test(word))
  const found = FORMS.find(([, form]) => form.test(text) && (form !== AMBIGUOUS || isRandom))
  return found?.[0] ?? null
}
