import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GazewayError } from '../../src/errors.ts'
import { identityWithoutKey } from '../../src/identity/identity.ts'
import { type Authenticator, createPasses } from '../../src/identity/passes.ts'

const caller = identityWithoutKey({ id: 'key_1', name: 'a', scopes: new Set(['platform']), wallet: null })
const nobody: Authenticator = {
  authenticateCached: () => null,
  async authenticate() {
    throw new GazewayError('invalid_api_key', 'unknown')
  },
}

describe('a pass', () => {
  it('opens the gateway in its caller’s name, for inference', async () => {
    const passes = createPasses()
    const keys = passes.beside(nobody)
    const { token } = passes.issue(caller, '203.0.113.7')
    const identity = await keys.authenticate(token)
    assert.deepEqual([identity.id, [...identity.scopes]], ['key_1', ['platform', 'inference']])
    assert.equal(keys.authenticateCached(token)?.id, 'key_1')
    assert.equal(identity.address, '203.0.113.7')
    assert.deepEqual([...caller.scopes], ['platform'])
  })

  it('opens nothing once it has ended, nor in another process', async () => {
    const passes = createPasses()
    const { token, end } = passes.issue(caller, null)
    await assert.rejects(createPasses().beside(nobody).authenticate(token), { code: 'invalid_api_key' })
    end()
    await assert.rejects(passes.beside(nobody).authenticate(token), { code: 'invalid_api_key' })
    assert.equal(passes.beside(nobody).authenticateCached(token), null)
    assert.equal(passes.beside(nobody).authenticateCached(null), null)
  })

  it('is another one each time', () => {
    const passes = createPasses()
    assert.notEqual(passes.issue(caller, null).token, passes.issue(caller, null).token)
  })
})
