import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { after, describe, it } from 'node:test'
import { newToken } from '../../src/identity/key-token.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { newFolder, storeIn } from './store.ts'

// Looks on while Node's own comparison works.
const compare = crypto.timingSafeEqual
const compared: number[] = []
crypto.timingSafeEqual = (a, b) => {
  compared.push(a.byteLength)
  return compare(a, b)
}
syncBuiltinESMExports()
after(() => {
  crypto.timingSafeEqual = compare
  syncBuiltinESMExports()
})

describe('comparing keys', () => {
  it('takes the same time for every token: hashes are compared, whole', async () => {
    const store = await storeIn(newFolder())
    const fixedKey = 'a-fixed-key-of-the-environment'
    const onError = (error: unknown) => assert.ifError(error)
    const keys = createKeys({ store, now: () => new Date(), fixedKey: null, onError })
    const { key } = await keys.create({ name: 'a' })
    const tokens = { good: key, 'wrong secret': `${key.slice(0, -1)}-`, unknown: newToken().token }
    for (const [name, token] of Object.entries(tokens)) {
      compared.length = 0
      await keys.authenticate(token).catch(() => null)
      assert.ok(compared.length > 0 && compared.every((bytes) => bytes === 32), name)
    }
    compared.length = 0
    const fixed = createKeys({ store, now: () => new Date(), fixedKey, onError })
    assert.ok(fixed.authenticateCached(fixedKey))
    assert.equal(fixed.authenticateCached(`${fixedKey}x`), null)
    assert.deepEqual(compared, [32, 32])
  })
})
