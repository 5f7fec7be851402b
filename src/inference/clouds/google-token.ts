import { createSign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, posix, win32 } from 'node:path'
import { GazewayError } from '../../errors.ts'
import type { CloudSettings } from '../../providers/cloud.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { isText } from '../../text/lenient-reader.ts'
import type { OwnProxy } from '../../wire/proxy-choice.ts'
import { askForToken } from './ask-for-token.ts'
import type { CloudEnvironment } from './cloud.ts'
import type { Credentials } from './held-credentials.ts'

/** A token of Google's. */
export interface GoogleToken extends Credentials {
  token: string
}

/** Settings of a request for a token. */
export interface GoogleAsk {
  settings: CloudSettings
  env: CloudEnvironment
  proxy: OwnProxy | null
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const LOGIN = 'https://oauth2.googleapis.com/token'
const INSTANCE = '169.254.169.254'

/**
 * Gets a token: for the account in a file, else of the service account that Google gave to this machine, in the order of
 * Application Default Credentials. `google-auth-library` does the same with ten packages; these are two requests:
 *
 * - https://developers.google.com/identity/protocols/oauth2/service-account#authorizingrequests
 * - https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
 *
 * @throws GazewayError `upstream_not_configured` when nobody gives one
 */
export async function googleToken(ask: GoogleAsk): Promise<GoogleToken> {
  const { credentials } = ask.settings
  const isAuto = credentials === 'auto'
  const account = isAuto || credentials === 'file' ? await accountOf(ask) : null
  if (account !== null) return ofAccount(account, ask)
  const token = isAuto || credentials === 'machine' ? await ofMachine(ask) : null
  if (token !== null) return token
  throw new GazewayError(
    'upstream_not_configured',
    'No credentials for Google Cloud were found. Set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account; or run gcloud auth application-default login; or run on a machine with a service account.',
  )
}

/** An account in a file. */
interface Account {
  file: string
  fields: Record<string, unknown>
}

/** The account of the configured file, or of `gcloud auth application-default login`. Null when there is no such file. */
async function accountOf({ settings, env }: GoogleAsk): Promise<Account | null> {
  const { credentials_file: configured } = settings
  const file = configured ?? join(gcloudFolder(env), 'application_default_credentials.json')
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    if (configured === null) return null
    throw new GazewayError('upstream_not_configured', `${file}: the file with the account cannot be read.`, { cause })
  })
  if (text === null) return null
  const fields = parseJson(text)
  if (isObject(fields)) return { file, fields }
  throw new GazewayError('upstream_not_configured', `${file}: not the JSON of an account.`)
}

/** Folder of gcloud's files: https://cloud.google.com/docs/authentication/application-default-credentials#personal */
export function gcloudFolder(
  env: CloudEnvironment,
  platform: NodeJS.Platform = process.platform,
  home: string = homedir(),
): string {
  if (env.CLOUDSDK_CONFIG) return env.CLOUDSDK_CONFIG
  if (platform !== 'win32') return posix.join(home, '.config', 'gcloud')
  return win32.join(env.APPDATA || win32.join(home, 'AppData', 'Roaming'), 'gcloud')
}

async function ofAccount({ file, fields }: Account, { proxy }: GoogleAsk): Promise<GoogleToken> {
  const { type, client_email: email, private_key: key, token_uri: uri } = fields
  const { client_id: id, client_secret: secret, refresh_token: refresh } = fields
  const url = isText(uri) ? uri : LOGIN
  const isService = type === 'service_account' && isText(email) && isText(key)
  const isUser = type === 'authorized_user' && isText(id) && isText(secret) && isText(refresh)
  if (!isService && !isUser)
    throw new GazewayError('upstream_not_configured', `${file}: neither a service account nor an authorized user.`)
  const form = isService
    ? { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: assertionOf(email, key, url, file) }
    : {
        grant_type: 'refresh_token',
        client_id: String(id),
        client_secret: String(secret),
        refresh_token: String(refresh),
      }
  const reply = await askForToken({
    name: 'Google',
    url,
    init: { method: 'POST', body: new URLSearchParams(form) },
    on: { proxy },
    remedy: isService
      ? `Check the account in ${file}, and whether its key was deleted.`
      : `The sign-in in ${file} may have ended: run gcloud auth application-default login again.`,
  })
  return tokenIn(reply, isService ? `service account ${email}, by ${file}` : `account in ${file}`)
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A signed request for a token (RFC 7523), for an hour. */
function assertionOf(email: string, key: string, audience: string, file: string): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: email, scope: SCOPE, aud: audience, iat: now, exp: now + 3600 }
  const text = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`
  try {
    return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`
  } catch {
    // The cause may quote the key.
    throw new GazewayError('upstream_not_configured', `${file}: private_key is no private key.`)
  }
}

/** Token of the machine's service account. Null on a machine without one. */
async function ofMachine({ env }: GoogleAsk): Promise<GoogleToken | null> {
  const reply = await askForToken({
    name: 'The metadata server of this machine',
    url: `http://${env.GCE_METADATA_HOST || INSTANCE}/computeMetadata/v1/instance/service-accounts/default/token`,
    init: { headers: { 'metadata-flavor': 'Google' } },
    on: 'machine',
    remedy: 'Check that the machine has a service account.',
  })
  return reply === null ? null : tokenIn(reply, 'service account of this machine')
}

function tokenIn(reply: Record<string, unknown> | null, from: string): GoogleToken {
  const { access_token: token, expires_in: lasts } = reply ?? {}
  if (!isText(token)) throw new GazewayError('upstream_not_configured', `Google gave no token for the ${from}.`)
  return { token, from, until: Date.now() + (Number(lasts) || 3600) * 1000 }
}
