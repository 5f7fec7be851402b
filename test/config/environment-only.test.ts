import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Config } from '../../src/config/config-schema.ts'
import { parseDocument } from '../../src/config/document.ts'
import { setDotted } from '../../src/config/dotted.ts'

const KEY = `0x${'1f'.repeat(32)}`
const isRefusal = ({ message }: Error) => /GAZEWAY_WALLET_PRIVATE_KEY/.test(message) && !message.includes(KEY)

describe("the wallet's private key", () => {
  it('is refused in config.json, by the variable to set instead and without showing it', () => {
    assert.throws(() => parseDocument(JSON.stringify({ wallet: { private_key: KEY } }), 'config.json'), isRefusal)
    assert.deepEqual(parseDocument('{"wallet":{"private_key":null}}', 'config.json'), { wallet: { private_key: null } })
  })

  it('cannot be changed, and keeps its value when the redacted one is sent back', () => {
    const inForce = Config.parse({ wallet: { private_key: `0x${'2e'.repeat(32)}` } })
    assert.throws(() => setDotted({}, { 'wallet.private_key': KEY }, inForce), isRefusal)
    assert.throws(() => setDotted({}, { wallet: { private_key: KEY } }, inForce), isRefusal)
    assert.deepEqual(setDotted({}, { 'wallet.private_key': '***' }, inForce), {})
  })
})
