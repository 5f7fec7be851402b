import { exec } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { GazewayError } from '../../errors.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { isText } from '../../text/lenient-reader.ts'
import type { CloudEnvironment } from './cloud.ts'
import { iniSection } from './ini-section.ts'

/** Time that the command has, in milliseconds: it may ask other services. */
const PATIENCE_MS = 60_000
const run = promisify(exec)

/**
 * Asks the command that a profile names for keys: `credential_process` of the configuration or the credentials file
 * (https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html). Roles to assume and sessions of
 * `aws sso login` come this way, by `aws configure export-credentials --format process`.
 *
 * @param credentials text of the credentials file
 * @returns the answer of the command, by the names of the metadata of machines. Null where the profile names none
 * @throws GazewayError `upstream_not_configured` when it fails. The message never has what it printed
 */
export async function processKeys(
  profile: string,
  credentials: string,
  env: CloudEnvironment,
): Promise<Record<string, unknown> | null> {
  const file = env.AWS_CONFIG_FILE || join(homedir(), '.aws', 'config')
  const text = await readFile(file, 'utf8').catch(() => '')
  const { credential_process: command } = {
    ...iniSection(text, profile === 'default' ? profile : `profile ${profile}`),
    ...iniSection(credentials, profile),
  }
  if (command === undefined) return null
  const failed = (why: string, cause?: unknown) =>
    new GazewayError('upstream_not_configured', `The credential_process of the profile ${profile} ${why}.`, { cause })
  // Not in the folder that an assistant has open, where its repository may hold a program of that name.
  const place = { cwd: homedir(), timeout: PATIENCE_MS, windowsHide: true }
  const { stdout } = await run(command, place).catch((error: { code?: unknown }) => {
    throw failed(typeof error.code === 'number' ? `ended with code ${error.code}` : 'could not be run')
  })
  const said = parseJson(stdout)
  if (!isObject(said) || said.Version !== 1) throw failed('printed no JSON of version 1')
  if (!isText(said.AccessKeyId) || !isText(said.SecretAccessKey)) throw failed('printed no keys')
  return { ...said, Token: said.SessionToken }
}
