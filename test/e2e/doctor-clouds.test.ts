import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { API_KEY, startAzure } from '../doubles/clouds/azure.ts'
import { startCloudServer } from '../doubles/clouds/cloud-server.ts'
import { runHere } from './in-process.ts'
import { newPlace } from './server.ts'

describe('gazeway doctor --upstream with a cloud alone', () => {
  const place = newPlace()
  let azure: Awaited<ReturnType<typeof startAzure>>
  let metadata: Awaited<ReturnType<typeof startCloudServer>>
  before(async () => {
    azure = await startAzure({ deployment: 'gpt-5' })
    metadata = await startCloudServer(() => ({ status: 200, body: { access_token: 'a-token', expires_in: 3599 } }))
  })
  after(() => Promise.all([azure.close(), metadata.close()]))

  const cases: [string, () => Record<string, string>, RegExp][] = [
    [
      'bedrock',
      () => ({ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-long-secret' }),
      /^(?:ok|warn\w*) +upstream +bedrock answers at .*, with AWS_ACCESS_KEY_ID$/m,
    ],
    [
      'vertex',
      () => ({
        GOOGLE_CLOUD_PROJECT: 'team',
        GOOGLE_CLOUD_LOCATION: 'global',
        GCE_METADATA_HOST: metadata.url.slice('http://'.length),
      }),
      /^(?:ok|warn\w*) +upstream +vertex answers at .*, with service account of this machine \(until 20.*Z\)$/m,
    ],
    [
      'azure',
      () => ({ AZURE_OPENAI_ENDPOINT: azure.url, AZURE_OPENAI_API_KEY: API_KEY }),
      /^(?:ok|warn\w*) +upstream +azure answers at .*, with api key$/m,
    ],
  ]
  for (const [name, env, expected] of cases)
    it(`tells the credentials of ${name}, and no secret`, async () => {
      const { stdout, stderr } = await runHere(place, ['doctor', '--upstream', name], env())
      assert.match(stdout, expected)
      assert.doesNotMatch(stdout + stderr, /a-long-secret|a-token|azure-key-of/)
    })
})
