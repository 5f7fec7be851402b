import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Config } from '../../src/config/config-schema.ts'
import { movingToken } from '../../src/config/moving-token.ts'

const TOKEN = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const CHAIN = {
  networks: { 84532: { name: 'Base Sepolia', tokens: [{ symbol: 'USDC', address: TOKEN, decimals: 6 }] } },
  settlement: { mode: 'evm', chain_id: 84532, token: 'USDC' },
}
const EVM = { enabled: true, evm: { chain_id: 84532, token: TOKEN.toLowerCase(), token_name: 'USD Coin' } }

describe('the token that moves', () => {
  it('is that of prices where none does', () => {
    assert.deepEqual(movingToken(Config.parse({})), { token: 'pathUSD', network: 'test' })
  })

  it('is that of settlements for what is settled on a chain, and for all else without payments', () => {
    const config = Config.parse({ chain: CHAIN })
    for (const mode of ['evm', 'ledger'] as const)
      assert.deepEqual(movingToken(config, mode), { token: 'USDC', network: 'Base Sepolia' })
  })

  it('is that of payments, by its symbol where that is configured', () => {
    assert.deepEqual(movingToken(Config.parse({ mpp: EVM })), { token: 'USD Coin', network: 'eip155:84532' })
    const { networks } = CHAIN
    const known = Config.parse({ mpp: EVM, chain: { networks } })
    assert.deepEqual(movingToken(known), { token: 'USDC', network: 'Base Sepolia' })
    const tempo = Config.parse({
      mpp: { enabled: true, methods: ['tempo'] },
      pricing: { token: 'USDX', network: 'main' },
    })
    assert.deepEqual(movingToken(tempo), { token: 'pathUSD', network: 'test' })
  })

  it('is each its own where both are on', () => {
    const config = Config.parse({ mpp: { enabled: true, methods: ['tempo'] }, chain: CHAIN })
    assert.equal(movingToken(config).token, 'pathUSD')
    assert.equal(movingToken(config, 'evm').token, 'USDC')
  })
})
