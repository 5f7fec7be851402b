import { PRIVATE_KEY } from '../text/secret-text.ts'

/** Extensions of program code: `jest.env.ts` is code that sets an environment up, `prod.env.yaml` is an environment. */
const CODE = '[cm]?[jt]sx?|vue|svelte|py|rb|php|go|rs|java|kt|cs|swift|ex|sh'

const FILES = [
  /^\.(flask)?env/,
  new RegExp(`\\.env(?!.*\\.(${CODE})$)(\\.|$)`),
  /^\.dev\.vars/,
  /\.(pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|tfstate|tfvars)(\.json)?$/,
  /^id_(rsa|dsa|ecdsa|ed25519)/,
  /(^|[._-])(credentials?|secrets?)([._-]|$)/,
  // Only the full name identifies secrets in data files: `design-tokens.json` holds colours.
  /(^|[._-])(passwords?|passwd|tokens?)(\.(txt|csv))?$/,
  /^(passwords?|tokens?|auth|local\.settings)\.(json|ya?ml|toml|ini)$/,
  /^\.?(netrc|npmrc|pypirc|git-credentials|htpasswd|pgpass|my\.cnf|kubeconfig|dockerconfigjson|dockercfg|vault[-_]?pass.*)$/,
  /^\.(yarnrc(\.yml)?|s3cfg|terraformrc|.*_history)$/,
  /^service[-_]?account.*\.json$/,
]
const PATH = /(^|\/)gh\/hosts\.ya?ml$/
/** Suffixes of backup copies. */
const COPY = /(\.(bak|backup|old|orig)|~)+$/
const FOLDERS = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.gcloud', '.kube', '.docker', 'secrets', '.secrets'])

/**
 * Recognizes files that may hold secrets, by their name or the name of a folder above. Their path may be shown, their
 * text may not.
 *
 * @param path path that includes the root, because the root itself may be a folder of secrets
 *
 * @example looksSecret('config/.env.local') // true
 */
export function looksSecret(path: string): boolean {
  const plain = path.toLowerCase().replace(COPY, '')
  const parts = plain.split(/[\\/]/)
  const name = parts.pop() ?? ''
  return FILES.some((pattern) => pattern.test(name)) || parts.some((folder) => FOLDERS.has(folder)) || PATH.test(plain)
}

/** Tells whether a text holds a private key. */
export function holdsPrivateKey(text: string): boolean {
  return PRIVATE_KEY.test(text)
}
