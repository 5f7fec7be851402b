import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { Credential } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { encodeAbiParameters, type Hex, keccak256, parseSignature, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { Config } from '../../src/config/config-schema.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { accountOf } from '../../src/wallet/ledger/accounts.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { type FaultyNode, type Lie, startFaultyNode } from '../chain/faulty-node.ts'
import { rpc } from '../chain/rpc.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { until } from '../doubles/until.ts'
import { age } from './age.ts'
import { type PaidApp, startPaidApp } from './paid-app.ts'
import { startPaidProcess } from './paid-process.ts'
import { validUntil } from './spent.ts'

const CHAIN_ID = 31_337
const PRICE = 90_000n
const HOUR_MS = 3_600_000

interface Refusal {
  error: { code: string; message: string }
}

describe('payments on a chain whose node fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-payment-faults-'))
  const storeUrl = `sqlite:${join(folder, 'store.db')}`
  let anvil: Anvil
  let node: FaultyNode
  let token: Token
  let app: PaidApp
  let store: Store
  let config: Pick<Config, 'mpp' | 'wallet'>

  before(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID })
    node = await startFaultyNode(anvil.url)
    token = await deployToken(anvil)
    const { name: token_name, version: token_version } = token.domain
    config = Config.parse({
      wallet: { private_key: KEYS[0] },
      mpp: {
        enabled: true,
        secret_key: 'a-secret-key-of-the-tests-long-enough',
        recipient: '0x00000000000000000000000000000000000000AA',
        evm: {
          chain_id: CHAIN_ID,
          rpc_url: node.url,
          token: token.address,
          token_name,
          token_version,
          confirmations: 3,
        },
      },
    })
    store = await openStore(storeUrl)
    app = await startPaidApp(storeUrl, config)
  })
  afterEach(async () => {
    node.lie = undefined
    await rpc(anvil.url, 'evm_setAutomine', [true])
  })
  after(async () => {
    await app.close()
    await store.close()
    node.stop()
    await anvil.stop()
    rmSync(folder, { recursive: true })
  })

  async function wallet() {
    const account = privateKeyToAccount(generatePrivateKey())
    await token.mint(account.address, PRICE)
    const client = Mppx.create({
      methods: [
        evm.charge({ account, authorization: token.domain, networks: [CHAIN_ID], currencies: [token.address] }),
      ],
      polyfill: false,
    })
    const payer = account.address.toLowerCase()
    const sign = async () => client.createCredential(await fetch(`${app.url}/v1/echo`))
    return {
      address: account.address,
      fetch: client.fetch,
      sign,
      /** A credential whose authorization outlives its challenge. */
      async signUntil(aheadMs: number) {
        const until = new Date(Date.now() + aheadMs)
        return validUntil(await sign(), account, { token, chainId: CHAIN_ID, until })
      },
      row: () => store.db.selectFrom('payments').selectAll().where('payer', '=', payer).executeTakeFirstOrThrow(),
      credited: async () => {
        const { id } = accountOf('caller', payer)
        const row = await store.db
          .selectFrom('ledger_accounts')
          .select('balance_micros')
          .where('id', '=', id)
          .executeTakeFirst()
        return row?.balance_micros ?? 0
      },
    }
  }

  /** The same platform after its process was away for so long. */
  async function sweepAfter(ms: number): Promise<void> {
    await age(store, ms)
    const later = await startPaidApp(storeUrl, config)
    await later.payments.sweep(100)
    assert.deepEqual(later.errors, [])
    await later.close()
  }

  it('serves a payment whose receipt the node refuses to tell at first', async () => {
    const payer = await wallet()
    let refused = 0
    node.lie = ({ method }) => {
      if (method !== 'eth_getTransactionReceipt' || refused++ >= 2) return undefined
      return { error: { code: -32_603, message: 'internal error' } }
    }
    await rpc(anvil.url, 'evm_setAutomine', [false])
    void sent(payer.row).then(() => mine(3))
    const response = await payer.fetch(`${app.url}/v1/echo`)
    assert.equal(response.status, 200)
    assert.equal((await payer.row()).status, 'served')
  })

  it('says that the chain cannot be asked, not that the payment is refused, when the node is over its limit', async () => {
    const payer = await wallet()
    node.lie = ({ method }) =>
      method === 'eth_call' ? { error: { code: -32_005, message: 'limit exceeded' } } : undefined
    const response = await payer.fetch(`${app.url}/v1/echo`)
    assert.equal(response.status, 502)
    assert.equal(await token.balanceOf(payer.address), PRICE)
  })

  it('tells a payer nothing of what the operator has to mend', async () => {
    const payer = await wallet()
    node.lie = ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined)
    const response = await payer.fetch(`${app.url}/v1/echo`)
    assert.equal(response.status, 502)
    const { error } = (await response.json()) as Refusal
    assert.equal(error.code, 'upstream_unreachable')
    assert.doesNotMatch(error.message, /rpc_url|chain 1\b/)
    assert.equal(await token.balanceOf(payer.address), PRICE)
  })

  it('takes no payment in a token that is at no address of a contract, where everything succeeds', async () => {
    const evmSettings = { ...config.mpp.evm, token: `0x${'d'.repeat(40)}` as const }
    const lost = await startPaidApp(storeUrl, { ...config, mpp: { ...config.mpp, evm: evmSettings } })
    const account = privateKeyToAccount(generatePrivateKey())
    const client = Mppx.create({ methods: [evm.charge({ account, authorization: token.domain })], polyfill: false })
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const blocks = setInterval(() => void mine(1), 100)
    const response = await client.fetch(`${lost.url}/v1/echo`)
    clearInterval(blocks)
    await lost.close()
    assert.equal(response.status, 502)
  })

  it('credits a payment that was mined while Gazeway was down, from a node without events', async () => {
    const payer = await wallet()
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const doomed = await startPaidProcess({ storeUrl, config })
    const asked = payer.fetch(`${doomed.url}/v1/echo`).catch(() => undefined)
    await sent(payer.row)
    await doomed.kill()
    await asked
    await mine(3)
    node.lie = ({ method }) =>
      method === 'eth_getLogs' ? { error: { code: -32_600, message: 'up to a 10 block range' } } : undefined
    await sweepAfter(HOUR_MS)
    assert.equal(await token.balanceOf(payer.address), 0n)
    assert.equal(await payer.credited(), Number(PRICE))
  })

  it('does not write a payment off while its transaction may still be taken', async () => {
    const payer = await wallet()
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const asked = payer.fetch(`${app.url}/v1/echo`).catch(() => undefined)
    await sent(payer.row)
    await sweepAfter(HOUR_MS)
    assert.equal((await payer.row()).status, 'claimed')
    await mine(3)
    await asked
    assert.equal(await token.balanceOf(payer.address), 0n)
    assert.equal((await payer.row()).status, 'served')
  })

  const receipts: [string, Lie][] = [
    ['nothing', () => ({ result: {} })],
    ['no status', () => ({ result: { blockNumber: '0x1', blockHash: `0x${'0'.repeat(64)}` } })],
    ['a fault', () => ({ error: { code: -32_603, message: 'internal error' } })],
  ]
  for (const [what, lie] of receipts)
    it(`serves a payment whose receipt says ${what} while there is none`, async () => {
      const payer = await wallet()
      await rpc(anvil.url, 'evm_setAutomine', [false])
      node.lie = (asked) => (asked.method === 'eth_getTransactionReceipt' ? lie(asked) : undefined)
      const asked = payer.fetch(`${app.url}/v1/echo`)
      await sent(payer.row)
      await looked()
      node.lie = undefined
      await mine(3)
      assert.equal((await asked).status, 200)
      assert.equal((await payer.row()).status, 'served')
    })

  const nothingSaid: [string, ReturnType<Lie>][] = [
    ['is over its limit', { status: 429, body: 'slow down' }],
    ['answers with a page', { status: 200, body: '<html>it reverted</html>' }],
    ['hangs up', 'hang up'],
    ['answers something else', { result: 'xyz' }],
    ['knows no better', { error: { code: -32_000, message: 'header not found' } }],
    ['has a fault', { error: { code: -32_603, message: 'internal error' } }],
  ]
  const asked = ['eth_chainId', 'eth_call', 'eth_getTransactionCount', 'eth_getBlockByNumber', 'eth_estimateGas']
  for (const [fault, said] of nothingSaid)
    it(`moves nothing and uses nothing up where the node ${fault} before anything is signed`, async () => {
      const payer = await wallet()
      const authorization = await payer.sign()
      const pay = () => fetch(`${app.url}/v1/echo`, { headers: { authorization } })
      for (const method of asked) {
        // What is tried out returns nothing, so that any answer will do.
        if (method === 'eth_call' && typeof said === 'object' && 'result' in said) continue
        node.lie = (one) => (one.method === method ? said : undefined)
        const response = await pay()
        const { error } = (await response.json()) as Refusal
        assert.deepEqual([method, response.status, error.code], [method, 502, 'upstream_unreachable'])
        assert.match(error.message, /no money was moved/)
      }
      node.lie = undefined
      void sent(payer.row).then(() => mine(2))
      assert.equal((await pay()).status, 200)
      assert.equal(await token.balanceOf(payer.address), 0n)
    })

  it('credits a payment that was carried out by someone else, though the node failed before that was seen', async () => {
    const payer = await wallet()
    const authorization = await payer.sign()
    await carryOut(Credential.deserialize<Record<string, string>>(authorization).payload)
    node.lie = ({ method }) => (method === 'eth_estimateGas' ? 'hang up' : undefined)
    assert.equal((await fetch(`${app.url}/v1/echo`, { headers: { authorization } })).status, 502)
    node.lie = undefined
    await mine(2)
    await sweepAfter(HOUR_MS)
    assert.equal(await payer.credited(), Number(PRICE))
    await sweepAfter(2 * HOUR_MS)
    assert.equal(await payer.credited(), Number(PRICE))
    assert.equal((await fetch(`${app.url}/v1/echo`, { headers: { authorization } })).status, 402)
  })

  it('refuses a payment that the token refuses, in words of what was asked', async () => {
    const payer = await wallet()
    const authorization = await payer.sign()
    node.lie = ({ method }) =>
      method === 'eth_estimateGas' ? { error: { code: 3, message: 'execution reverted', data: '0x' } } : undefined
    const response = await fetch(`${app.url}/v1/echo`, { headers: { authorization } })
    assert.equal(response.status, 402)
    assert.match(((await response.json()) as Refusal).error.message, /token refuses the transfer.*No money was moved/)
    assert.equal(await token.balanceOf(payer.address), PRICE)
  })

  it('counts a payment once its block is as deep as the chain is configured to be', async () => {
    const payer = await wallet()
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const asked = payer.fetch(`${app.url}/v1/echo`)
    await sent(payer.row)
    await mine(2)
    await looked()
    assert.equal((await payer.row()).status, 'claimed')
    await sweepAfter(HOUR_MS)
    assert.equal((await payer.row()).status, 'claimed')
    await mine(1)
    assert.equal((await asked).status, 200)
    assert.equal((await payer.row()).status, 'served')
  })

  it('does not count a payment whose block the chain takes back, and says that none was made', async () => {
    const payer = await wallet()
    const authorization = await payer.sign()
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const asked = fetch(`${app.url}/v1/echo`, { headers: { authorization } })
    await sent(payer.row)
    await mine(1)
    assert.equal(await token.balanceOf(payer.address), 0n)
    await looked()
    await rpc(anvil.url, 'anvil_reorg', [1, []])
    await setBalance(payer.address, 0n)
    await app.payments.sweep(100)
    await mine(3)
    const response = await asked
    assert.equal(response.status, 402)
    assert.match(((await response.json()) as Refusal).error.message, /token refused the transfer.*No money was moved/)
    await sweepAfter(HOUR_MS)
    assert.equal((await payer.row()).status, 'failed')
    assert.equal(await payer.credited(), 0)
  })

  it('serves a payment that failed in a block which the chain takes back', async () => {
    const payer = await wallet()
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const asked = payer.fetch(`${app.url}/v1/echo`)
    await sent(payer.row)
    await setBalance(payer.address, 0n)
    await mine(1)
    await looked()
    await rpc(anvil.url, 'anvil_reorg', [1, []])
    await setBalance(payer.address, PRICE)
    await app.payments.sweep(100)
    await mine(3)
    assert.equal((await asked).status, 200)
    assert.equal(await token.balanceOf(payer.address), 0n)
    assert.equal((await payer.row()).status, 'served')
  })

  it('credits a refused payment that is carried out by someone else as late as its payer has allowed', async () => {
    const payer = await wallet()
    const authorization = await payer.signUntil(2 * HOUR_MS)
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const asked = fetch(`${app.url}/v1/echo`, { headers: { authorization } })
    await sent(payer.row)
    await setBalance(payer.address, 0n)
    await mine(3)
    assert.equal((await asked).status, 402)
    await sweepAfter(HOUR_MS)
    assert.equal((await payer.row()).status, 'claimed')
    await setBalance(payer.address, PRICE)
    await rpc(anvil.url, 'evm_setAutomine', [true])
    await carryOut(Credential.deserialize<Record<string, string>>(authorization).payload)
    await mine(3)
    await sweepAfter(1.5 * HOUR_MS)
    assert.equal(await payer.credited(), Number(PRICE))
  })

  it('refuses an authorization that would have to be watched for more than a day', async () => {
    const payer = await wallet()
    const authorization = await payer.signUntil(25 * HOUR_MS)
    const response = await fetch(`${app.url}/v1/echo`, { headers: { authorization } })
    assert.equal(response.status, 402)
    assert.match(((await response.json()) as Refusal).error.message, /valid for more than a day/)
    assert.equal(await token.balanceOf(payer.address), PRICE)
  })

  it('credits a refused payment that someone else carries out after all', async () => {
    const payer = await wallet()
    const authorization = await payer.sign()
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const asked = fetch(`${app.url}/v1/echo`, { headers: { authorization } })
    await sent(payer.row)
    await setBalance(payer.address, 0n)
    await mine(3)
    assert.equal((await asked).status, 402)
    await setBalance(payer.address, PRICE)
    await rpc(anvil.url, 'evm_setAutomine', [true])
    await carryOut(Credential.deserialize<Record<string, string>>(authorization).payload)
    await app.payments.sweep(100)
    assert.equal(await payer.credited(), 0, 'it is not deep enough')
    await sweepAfter(HOUR_MS)
    assert.equal((await payer.row()).status, 'claimed')
    await mine(2)
    await sweepAfter(2 * HOUR_MS)
    assert.equal(await token.balanceOf(payer.address), 0n)
    assert.equal(await payer.credited(), Number(PRICE))
  })

  const mine = (blocks: number) => rpc(anvil.url, 'anvil_mine', [toHex(blocks)])

  /** Sets what an account has of the token, without a transaction. */
  const setBalance = (owner: string, units: bigint) =>
    rpc(anvil.url, 'anvil_setStorageAt', [
      token.address,
      keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [owner as Hex, 0n])),
      toHex(units, { size: 32 }),
    ])

  async function carryOut({ from, to, value, validAfter, validBefore, nonce, signature }: Record<string, string>) {
    const { r, s, yParity } = parseSignature(signature as Hex)
    await token.call('transferWithAuthorization', [from, to, value, validAfter, validBefore, nonce, 27 + yParity, r, s])
  }

  /** Waits until the node has been asked for a receipt, and has answered. */
  async function looked(): Promise<void> {
    const receipts = () => node.asked.filter(({ method }) => method === 'eth_getTransactionReceipt').length
    const before = receipts()
    await until(() => receipts() >= before + 2)
  }

  /** Waits until a payment's transaction has been signed and sent. */
  async function sent(row: () => Promise<{ proof: string }>): Promise<void> {
    await until(async () => {
      const proof = await row().then(
        (found) => found.proof,
        () => '',
      )
      const known = await store.db
        .selectFrom('chain_transactions')
        .select('hashes')
        .where('purpose', '=', `payment:${proof}`)
        .executeTakeFirst()
      const [hash] = known ? (JSON.parse(known.hashes) as string[]) : []
      return hash && (await rpc(anvil.url, 'eth_getTransactionByHash', [hash])) !== null
    })
  }
})
