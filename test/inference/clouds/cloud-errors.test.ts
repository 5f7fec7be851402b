import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { advisedError } from '../../../src/inference/clouds/cloud-errors.ts'
import { gatherError } from '../../../src/inference/clouds/gather-error.ts'
import { azure } from '../../../src/providers/azure.ts'
import { cloudSettings, NO_CLOUD_SETTINGS, type PresetCloud } from '../../../src/providers/cloud.ts'

const TOKEN = 'token-of-the-cloud'

/** Reads what a client gets of an error that comes in pieces. */
function toldOf(pieces: string[]): string {
  let told = ''
  const listener = {
    onHead() {},
    onData(chunk: Buffer) {
      told += chunk
    },
    onEnd() {},
    onError() {},
  }
  const gathered = gatherError(listener, (error) =>
    advisedError(error, { advice: () => null }, { authorization: `Bearer ${TOKEN}` }),
  )
  gathered.onHead(403, {})
  for (const piece of pieces) gathered.onData(Buffer.from(piece))
  gathered.onEnd()
  return told
}

describe('Errors of clouds', () => {
  it('never have a token, however long they are and wherever it stands', () => {
    const long = 'x'.repeat(60_000)
    for (const pieces of [
      [`Refused: ${TOKEN}`],
      [`Refused: ${TOKEN}`, long, long],
      ['Refused: ', long, TOKEN.slice(0, 9), TOKEN.slice(9), long],
      ['Refused: ', long, 'x'.repeat(5_500), TOKEN.slice(0, 9), long, TOKEN.slice(9), TOKEN],
    ]) {
      const told = toldOf(pieces)
      assert.match(told, /^Refused: /)
      assert.ok(!told.includes(TOKEN.slice(0, 9)))
    }
  })

  it('name a variable of the environment that makes no address', () => {
    const settings = (value: string) =>
      cloudSettings(azure.cloud as PresetCloud, NO_CLOUD_SETTINGS, { AZURE_OPENAI_ENDPOINT: value }).resource
    for (const good of ['my-resource', 'https://my-resource.openai.azure.com/', 'https://a.openai.azure.us/openai/v1'])
      assert.equal(settings(good), good)
    for (const bad of [
      'my resource',
      'my-resource.openai.azure.com',
      'https:/a.com',
      'https://a.com/openai/deployments/b',
    ])
      assert.throws(() => settings(bad), {
        code: 'config_invalid',
        message:
          'AZURE_OPENAI_ENDPOINT: invalid format; must be a name such as my-resource, or its endpoint such as https://my-resource.openai.azure.com.',
      })
  })
})
