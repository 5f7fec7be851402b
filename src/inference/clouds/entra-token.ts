import { readFile } from 'node:fs/promises'
import { GazewayError } from '../../errors.ts'
import type { CloudSettings } from '../../providers/cloud.ts'
import { isText } from '../../text/lenient-reader.ts'
import type { OwnProxy } from '../../wire/proxy-choice.ts'
import { askForToken } from './ask-for-token.ts'
import type { CloudEnvironment } from './cloud.ts'
import type { Credentials } from './held-credentials.ts'

/** A token of Microsoft Entra. */
export interface EntraToken extends Credentials {
  token: string
}

/** Settings of a request for a token. */
export interface EntraAsk {
  settings: CloudSettings
  /** Host of the resource: the clouds of the US government and of China have a login of their own. */
  host: string
  env: CloudEnvironment
  proxy: OwnProxy | null
}

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const INSTANCE = 'http://169.254.169.254'

/**
 * Gets a token: of a service principal by its secret or the token of its workload, else of the identity that Azure gave to
 * this machine. `@azure/identity` does the same, and twenty packages with it; these are two requests:
 *
 * - https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 * - https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
 * - https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
 *
 * @throws GazewayError `upstream_not_configured` when nobody gives one
 */
export async function entraToken(ask: EntraAsk): Promise<EntraToken> {
  const { credentials } = ask.settings
  const secret = await secretOf(ask)
  if (secret !== null) return ofPrincipal(ask, secret)
  if (credentials === 'auto' || credentials === 'machine') {
    const token = await ofMachine(ask)
    if (token !== null) return token
  }
  throw new GazewayError(
    'upstream_not_configured',
    'No credentials for Azure were found. Set AZURE_OPENAI_API_KEY; or AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET; or run on a machine with a managed identity.',
  )
}

/** Secret of a service principal: the fields that prove it, and where it was found. */
interface Secret {
  from: string
  fields: Readonly<Record<string, string>>
}

async function secretOf({ settings, env }: EntraAsk): Promise<Secret | null> {
  const { credentials, credentials_file: file } = settings
  const allows = (source: string) => credentials === 'auto' || credentials === source
  const { AZURE_CLIENT_SECRET: secret, AZURE_FEDERATED_TOKEN_FILE: workload } = env
  if (allows('environment') && secret) return { from: 'AZURE_CLIENT_SECRET', fields: { client_secret: secret } }
  if (!allows('file')) return null
  if (file !== null) return { from: file, fields: { client_secret: await textOf(file) } }
  if (!workload) return null
  const fields = { client_assertion_type: ASSERTION, client_assertion: await textOf(workload) }
  return { from: workload, fields }
}

async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (cause) {
    throw new GazewayError('upstream_not_configured', `${file}: the file with the credentials cannot be read.`, {
      cause,
    })
  }
}

/** Ending of the names of a cloud: `com`, or `us` and `cn` of the separate ones. */
const endOf = (host: string): string => /\.(us|cn)$/.exec(host)?.[1] ?? 'com'
const LOGINS: Readonly<Record<string, string>> = {
  us: 'https://login.microsoftonline.us',
  cn: 'https://login.chinacloudapi.cn',
}
const resourceOf = (host: string): string => `https://cognitiveservices.azure.${endOf(host)}`

async function ofPrincipal({ settings, host, env, proxy }: EntraAsk, { from, fields }: Secret): Promise<EntraToken> {
  const { tenant_id: tenant, client_id: client } = settings
  if (tenant === null || client === null)
    throw new GazewayError(
      'upstream_not_configured',
      `The credentials of ${from} need their directory and application: set AZURE_TENANT_ID and AZURE_CLIENT_ID.`,
    )
  const login =
    env.AZURE_AUTHORITY_HOST?.replace(/\/+$/, '') || (LOGINS[endOf(host)] ?? 'https://login.microsoftonline.com')
  const form = { grant_type: 'client_credentials', client_id: client, scope: `${resourceOf(host)}/.default`, ...fields }
  const reply = await askForToken({
    name: 'Microsoft Entra',
    url: `${login}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
    init: { method: 'POST', body: new URLSearchParams(form) },
    on: { proxy },
    remedy: `Check the application ${client}, and whether its secret has expired.`,
  })
  return tokenIn(reply, `service principal ${client}, by ${from}`)
}

/** Token of a managed identity. Null on a machine that has none. */
async function ofMachine({ settings, host, env }: EntraAsk): Promise<EntraToken | null> {
  const { client_id: client } = settings
  const query = { resource: resourceOf(host), ...(client !== null && { client_id: client }) }
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header, AZURE_POD_IDENTITY_AUTHORITY_HOST: instance } = env
  const isApp = Boolean(endpoint && header)
  const url = new URL(isApp ? String(endpoint) : `${instance || INSTANCE}/metadata/identity/oauth2/token`)
  const version = isApp ? '2019-08-01' : '2018-02-01'
  for (const [name, value] of Object.entries({ 'api-version': version, ...query })) url.searchParams.set(name, value)
  const reply = await askForToken({
    name: 'The managed identity of this machine',
    url: url.href,
    init: { headers: isApp ? { 'x-identity-header': String(header) } : { metadata: 'true' } },
    on: 'machine',
    remedy: 'Check that the machine has an identity, and cloud.client_id where it has several.',
  })
  return reply === null ? null : tokenIn(reply, 'managed identity of this machine')
}

function tokenIn(reply: Record<string, unknown> | null, from: string): EntraToken {
  const { access_token: token, expires_in: lasts, expires_on: end } = reply ?? {}
  if (!isText(token)) throw new GazewayError('upstream_not_configured', `The ${from} answered without a token.`)
  const until = Number(end) > 0 ? Number(end) * 1000 : Date.now() + (Number(lasts) || 3600) * 1000
  return { token, from, until }
}
