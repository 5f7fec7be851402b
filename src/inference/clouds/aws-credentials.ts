import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { GazewayError } from '../../errors.ts'
import type { CloudSettings } from '../../providers/cloud.ts'
import { isText } from '../../text/lenient-reader.ts'
import { askForToken } from './ask-for-token.ts'
import { processKeys } from './aws-process.ts'
import type { CloudEnvironment } from './cloud.ts'
import type { Credentials } from './held-credentials.ts'
import { iniSection } from './ini-section.ts'
import type { AwsKeys } from './sigv4.ts'

/** Keys of AWS, with their origin and end. */
export interface AwsCredentials extends Credentials {
  keys: AwsKeys
}

const CONTAINER = 'http://169.254.170.2'
const INSTANCE = 'http://169.254.169.254'
/** Lifetime of a token for the metadata of an instance, in seconds. */
const METADATA_SECONDS = '21600'

/**
 * Finds keys of AWS where its own tools look, in their order: environment, shared credentials file, container, instance
 * (https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html). `@aws-sdk/credential-providers` knows
 * more places (SSO, roles to assume), with some thirty packages; here they are for the `credential_process` of a profile.
 *
 * @throws GazewayError `upstream_not_configured` when there are none
 */
export async function awsCredentials(settings: CloudSettings, env: CloudEnvironment): Promise<AwsCredentials> {
  const { credentials: source } = settings
  const allows = (one: string) => source === 'auto' || source === one
  const found =
    (allows('environment') ? ofEnvironment(env) : null) ??
    (allows('file') ? await ofFile(settings, env) : null) ??
    (allows('machine') ? ((await ofContainer(env)) ?? (await ofInstance(env))) : null)
  if (found !== null) return found
  throw new GazewayError(
    'upstream_not_configured',
    'No credentials for AWS were found. Set AWS_BEARER_TOKEN_BEDROCK; or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; or a profile in ~/.aws/credentials; or run on a machine with a role.',
  )
}

function ofEnvironment(env: CloudEnvironment): AwsCredentials | null {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = env
  return id && secret
    ? { keys: { id, secret, session: session || null }, from: 'AWS_ACCESS_KEY_ID', until: null }
    : null
}

async function ofFile(settings: CloudSettings, env: CloudEnvironment): Promise<AwsCredentials | null> {
  const profile = settings.profile ?? 'default'
  const file = settings.credentials_file ?? (env.AWS_SHARED_CREDENTIALS_FILE || join(homedir(), '.aws', 'credentials'))
  const text = await readFile(file, 'utf8').catch(() => '')
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session } = iniSection(text, profile)
  if (id && secret)
    return {
      keys: { id, secret, session: session || null },
      from: `profile ${profile} in ${file}`,
      until: null,
      isReread: true,
    }
  const told = await processKeys(profile, text, env)
  if (told !== null) {
    const keys = keysIn(told, `credential_process of the profile ${profile}`)
    return keys.until === null ? { ...keys, isReread: true } : keys
  }
  if (settings.profile === null) return null
  throw new GazewayError(
    'upstream_not_configured',
    `${file} has no keys for the profile ${profile}. For a role or \`aws sso login\`, set credential_process in ~/.aws/config: aws configure export-credentials --profile ${profile} --format process.`,
  )
}

async function ofContainer(env: CloudEnvironment): Promise<AwsCredentials | null> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = env
  if (!relative && !full) return null
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN: token, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file } = env
  const authorization = file ? await textOf(file) : token
  const reply = await askForToken({
    name: 'The container',
    url: relative ? CONTAINER + relative : String(full),
    init: { headers: authorization ? { authorization } : {} },
    on: 'machine',
    remedy: 'Check the role of the task.',
  })
  return reply === null ? null : keysIn(reply, 'role of this container')
}

async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (cause) {
    throw new GazewayError('upstream_not_configured', `${file}: the token of the container cannot be read.`, { cause })
  }
}

/** Keys of the role of an instance, by its metadata of the second version. */
async function ofInstance(env: CloudEnvironment): Promise<AwsCredentials | null> {
  if (env.AWS_EC2_METADATA_DISABLED === 'true') return null
  const base = `${env.AWS_EC2_METADATA_SERVICE_ENDPOINT?.replace(/\/+$/, '') || INSTANCE}/latest`
  const token = await metadata(`${base}/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': METADATA_SECONDS },
  })
  if (token === null) return null
  const headers = { 'x-aws-ec2-metadata-token': token }
  const roles = `${base}/meta-data/iam/security-credentials/`
  const role = await metadata(roles, { headers })
  if (role === null) return null
  const reply = await askForToken({
    name: 'The metadata of this instance',
    url: roles + role.trim(),
    init: { headers },
    on: 'machine',
    remedy: 'Check the role of the instance.',
  })
  return reply === null ? null : keysIn(reply, `role ${role.trim()} of this instance`)
}

/** A text of the metadata. Null where there is none. */
async function metadata(url: string, init: RequestInit): Promise<string | null> {
  try {
    const reply = await fetch(url, { ...init, signal: AbortSignal.timeout(1000), redirect: 'error' })
    return reply.ok ? await reply.text() : null
  } catch {
    // No instance of AWS.
    return null
  }
}

function keysIn(reply: Record<string, unknown>, from: string): AwsCredentials {
  const { AccessKeyId: id, SecretAccessKey: secret, Token: session, Expiration: end } = reply
  if (!isText(id) || !isText(secret))
    throw new GazewayError('upstream_not_configured', `The ${from} answered without keys.`)
  const until = Date.parse(String(end))
  return {
    keys: { id, secret, session: isText(session) ? session : null },
    from,
    until: Number.isNaN(until) ? null : until,
  }
}
