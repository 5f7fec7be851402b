import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newToken } from '../../src/identity/key-token.ts'
import { requireOwnKey, withOwnKey } from '../../src/inference/upstreams/own-key.ts'
import { NO_CLOUD_SETTINGS } from '../../src/providers/cloud.ts'
import { upstreamAt } from '../doubles/routing.ts'

describe('an upstream, for clients with keys of their own', () => {
  const URL = 'https://llm.example.com/v1'
  const cloud = { ...NO_CLOUD_SETTINGS, resource: 'mine' }
  for (const [what, over, takes] of [
    ['a known provider takes them', { provider: 'openai' }, true],
    ['a known provider without a key of ours takes them', { provider: 'anthropic', api_key: null }, true],
    ['a known provider refuses them if told so', { provider: 'openai', own_keys: 'refuse' }, false],
    ['another address of it may need no key', { provider: 'openai', base_url: URL }, false],
    ['another address takes them if told so', { provider: 'openai', base_url: URL, own_keys: 'allow' }, true],
    ['a base URL may need no key', { provider: URL }, false],
    ['a server of one’s own needs none', { provider: 'ollama' }, false],
    ['the sandbox needs none', { provider: 'sandbox' }, false],
    ['a cloud signs its requests', { provider: 'azure', own_keys: 'allow', cloud }, false],
  ] as const)
    it(what, () => {
      const { takesOwnKeys, takesOwnPlans } = upstreamAt(URL, over).provider
      assert.deepEqual([takesOwnKeys, takesOwnPlans], [takes, false])
    })

  it('is called with nothing of the operator’s account, which its errors mask still', () => {
    const headers = {
      Authorization: 'Bearer operator-secret',
      'OpenAI-Organization': 'org-1',
      'x-goog-user-project': 'project-1',
      'cf-aig-authorization': 'Bearer operator-of-a-proxy',
      'x-portkey-virtual-key': 'operator-virtual-key',
      Cookie: 'session=operator-session',
      'x-region': 'eu',
    }
    const { provider } = upstreamAt(URL, { headers })
    const own = withOwnKey(provider, { kind: 'own_key', secret: 'sk-own-0123456789', headers: {} })
    assert.deepEqual(Object.keys(own.headers), ['via', 'x-region'])
    assert.deepEqual([own.apiKey, own.keyId, own.paidBy], ['sk-own-0123456789', null, 'own_key'])
    for (const secret of ['sk-own-0123456789', 'upstream-secret-key', 'operator-secret'])
      assert.ok(own.secrets.includes(secret), secret)
  })

  it('never gets a key of a gateway, unless it is no known provider', () => {
    const { token } = newToken()
    const asked = { endpoint: '/responses', isConverted: false }
    const own = { secret: token, headers: {} }
    const over = { own_keys: 'allow', passthrough_credentials: true } as const
    const { provider } = upstreamAt(URL, { ...over, provider: 'openai' })
    for (const kind of ['own_key', 'own_plan'] as const)
      assert.throws(() => requireOwnKey(provider, { ...own, kind }, asked), { code: 'own_key_refused' })
    requireOwnKey(upstreamAt(URL, over).provider, { ...own, kind: 'own_key' }, asked)
  })
})
