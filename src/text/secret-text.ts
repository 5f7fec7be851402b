/** Headers of private keys: PEM (RFC 7468), SSH2 and PuTTY. */
export const PRIVATE_KEY = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-\d/

/** Secrets by their form, each with its name. */
const FORMS: ReadonlyArray<readonly [what: string, form: RegExp]> = [
  ['a private key', PRIVATE_KEY],
  ['an access key of AWS', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{50})/],
  ['a token of GitLab', /\bglpat-[\w-]{20}/],
  ['a token of npm', /\bnpm_[A-Za-z0-9]{36}/],
  ['a token of Slack', /\bxox[abeprs]-[\w-]{10}/],
  ['a key of Google', /\bAIza[\w-]{35}/],
  ['a key of Stripe', /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16}/],
  ['a key of a model provider', /\b(?:sk|xai|gsk|pplx)-(?=[\w-]*\d)[\w-]{20}/],
  ['a JSON Web Token', /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10}/],
  ['an address with a password', /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,100}:(?![$<{*]|pass|secret)[^\s/@]{4,100}@/i],
  [
    'a password or a token',
    /\b(?:password|passwd|passphrase|secret|api[ _-]?key|token)["']?\s{0,5}(?:=|:|\bis\b)\s{0,5}["']?(?=[^\s"']{0,100}\d)(?=[^\s"']{0,100}[a-z])[^\s"'<>(){}$*/]{8}/i,
  ],
]

/** Names the kind of secret that a text seems to hold: "a token of GitHub". Null when it seems to hold none. */
export function secretIn(text: string): string | null {
  return FORMS.find(([, form]) => form.test(text))?.[0] ?? null
}
