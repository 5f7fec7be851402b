import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { awsCredentials } from '../../../src/inference/clouds/aws-credentials.ts'
import { entraToken } from '../../../src/inference/clouds/entra-token.ts'
import { gcloudFolder, googleToken } from '../../../src/inference/clouds/google-token.ts'
import { bedrock } from '../../../src/providers/bedrock.ts'
import { NO_CLOUD_SETTINGS } from '../../../src/providers/cloud.ts'
import { type CloudAsked, type CloudReply, startCloudServer } from '../../doubles/clouds/cloud-server.ts'

const ROLE = {
  AccessKeyId: 'ASIAROLE',
  SecretAccessKey: 'secret',
  Token: 'session',
  Expiration: '2030-01-01T00:00:00Z',
}
const REFUSED: CloudReply = { status: 400, body: { error: 'invalid_request' } }
const TOKEN = { access_token: 'token-of-the-machine', expires_in: '3599', expires_on: '1900000000' }

/** The services of machines in three clouds, which refuse what the real ones do. */
function answer({ method, url, headers, body }: CloudAsked): CloudReply {
  const given = (isGiven: boolean, value: unknown): CloudReply => (isGiven ? { status: 200, body: value } : REFUSED)
  const isSession = headers['x-aws-ec2-metadata-token'] === 'imds-token'
  const form = new URLSearchParams(body.toString())
  switch (url.pathname) {
    case '/latest/api/token':
      return given(
        method === 'PUT' && headers['x-aws-ec2-metadata-token-ttl-seconds'] === '21600',
        Buffer.from('imds-token'),
      )
    case '/latest/meta-data/iam/security-credentials/':
      return given(isSession, Buffer.from('role\n'))
    case '/latest/meta-data/iam/security-credentials/role':
      return given(isSession, ROLE)
    case '/container':
      return given(headers.authorization === 'container-token', ROLE)
    case '/app-service':
      return given(
        headers['x-identity-header'] === 'app-header' && url.searchParams.get('api-version') === '2019-08-01',
        TOKEN,
      )
    case '/tenant/oauth2/v2.0/token':
      return given(form.get('client_assertion') === 'workload' && form.get('client_id') === 'client', TOKEN)
    case '/computeMetadata/v1/instance/service-accounts/default/token':
      return given(headers['metadata-flavor'] === 'Google', TOKEN)
    case '/google':
      return given(form.get('grant_type') === 'refresh_token' && form.get('refresh_token') === 'refresh', TOKEN)
    default:
      return { status: 404, body: {} }
  }
}

describe('credentials of a machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  let server: Awaited<ReturnType<typeof startCloudServer>>
  before(async () => {
    server = await startCloudServer(answer)
  })
  after(async () => {
    await server.close()
    rmSync(folder, { recursive: true })
  })

  type Env = Record<string, string>
  const nowhere = join(folder, 'nowhere')
  const azure = (env: Env) =>
    entraToken({
      settings: { ...NO_CLOUD_SETTINGS, tenant_id: 'tenant', client_id: 'client' },
      host: 'one.openai.azure.com',
      env,
      proxy: null,
    })
  const google = (env: Env) => googleToken({ settings: NO_CLOUD_SETTINGS, env, proxy: null })
  const aws = (env: Env) =>
    awsCredentials(NO_CLOUD_SETTINGS, { AWS_SHARED_CREDENTIALS_FILE: nowhere, AWS_CONFIG_FILE: nowhere, ...env })

  const cases: [string, () => Promise<{ from: string; until: number | null }>, RegExp, number | null][] = [
    [
      'keys of the environment',
      () => aws({ AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 's' }),
      /ACCESS_KEY/,
      null,
    ],
    [
      'answer of a command',
      () => {
        const said = { Version: 1, ...ROLE, SessionToken: ROLE.Token }
        const script = file('keys.cjs', `console.log(${JSON.stringify(JSON.stringify(said))})`)
        const AWS_CONFIG_FILE = file('config', `[default]\ncredential_process = "${process.execPath}" "${script}"\n`)
        return aws({ AWS_CONFIG_FILE })
      },
      /^credential_process of the profile default$/,
      Date.UTC(2030, 0),
    ],
    [
      'role of a container',
      () =>
        aws({
          AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/container`,
          AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('container', 'container-token\n'),
        }),
      /role of this container/,
      Date.UTC(2030, 0),
    ],
    [
      'role of an instance',
      () => aws({ AWS_EC2_METADATA_SERVICE_ENDPOINT: `${server.url}/` }),
      /^role role of this instance$/,
      Date.UTC(2030, 0),
    ],
    [
      'identity of an app',
      () => azure({ IDENTITY_ENDPOINT: `${server.url}/app-service`, IDENTITY_HEADER: 'app-header' }),
      /managed identity/,
      1_900_000_000_000,
    ],
    [
      'token of a workload',
      () =>
        azure({ AZURE_AUTHORITY_HOST: `${server.url}/`, AZURE_FEDERATED_TOKEN_FILE: file('workload', 'workload\n') }),
      /service principal client, by .*workload/,
      1_900_000_000_000,
    ],
    [
      'metadata server of Google',
      () => google({ CLOUDSDK_CONFIG: nowhere, GCE_METADATA_HOST: server.url.slice('http://'.length) }),
      /service account of this machine/,
      Number.NaN,
    ],
    [
      'account of gcloud',
      () => {
        const account = { type: 'authorized_user', client_id: 'id', client_secret: 's', refresh_token: 'refresh' }
        file('application_default_credentials.json', JSON.stringify({ ...account, token_uri: `${server.url}/google` }))
        return google({ CLOUDSDK_CONFIG: folder })
      },
      /account in .*application_default_credentials\.json/,
      Number.NaN,
    ],
  ]
  for (const [what, get, from, until] of cases)
    it(`are found as the ${what}`, async () => {
      const found = await get()
      assert.match(found.from, from)
      if (Number.isNaN(until)) assert.ok(Number(found.until) > Date.now())
      else assert.equal(found.until, until)
    })

  it('are looked for where gcloud keeps them on each system', () => {
    const windows = { APPDATA: 'D:\\Roaming' }
    assert.equal(gcloudFolder(windows, 'win32', 'C:\\Users\\ann'), 'D:\\Roaming\\gcloud')
    assert.equal(gcloudFolder({}, 'win32', 'C:\\Users\\ann'), 'C:\\Users\\ann\\AppData\\Roaming\\gcloud')
    for (const platform of ['linux', 'darwin'] as const)
      assert.equal(gcloudFolder(windows, platform, '/home/ann'), '/home/ann/.config/gcloud')
    assert.equal(gcloudFolder({ CLOUDSDK_CONFIG: 'E:\\gcloud' }, 'win32', 'C:\\'), 'E:\\gcloud')
  })

  it('name the file of a token that is not there', async () => {
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: server.url, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: nowhere }
    await assert.rejects(aws(env), { code: 'upstream_not_configured' })
  })

  it('tell of a command that fails, without what it printed', async () => {
    const AWS_SHARED_CREDENTIALS_FILE = file('credentials', '[default]\ncredential_process = echo secret && exit 3\n')
    await assert.rejects(aws({ AWS_SHARED_CREDENTIALS_FILE }), (fault: Error) => {
      assert.equal(fault.message, 'The credential_process of the profile default ended with code 3.')
      return !String(fault.cause).includes('secret')
    })
  })

  it('of AWS go to the hosts of Bedrock alone', () => {
    const at = (host: string) => bedrock.cloud?.hosts.test(host)
    for (const host of [
      'bedrock-runtime.us-east-1.amazonaws.com',
      'bedrock-runtime-fips.us-gov-west-1.amazonaws.com',
      'bedrock-runtime.cn-north-1.amazonaws.com.cn',
      'vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com',
    ])
      assert.ok(at(host), host)
    for (const host of ['ec2-1-2-3-4.compute-1.amazonaws.com', 'bedrock-runtime.s3.us-east-1.amazonaws.com'])
      assert.ok(!at(host), host)
  })
})
