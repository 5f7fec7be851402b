import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { evm, Mppx } from 'mppx/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { Config } from '../../src/config/schema.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { accountOf } from '../../src/wallet/accounts.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../chain/faulty-node.ts'
import { rpc } from '../chain/rpc.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { type PaidApp, startPaidApp } from './paid-app.ts'
import { startPaidProcess } from './paid-process.ts'

const CHAIN_ID = 31_337
const PRICE = 90_000n
const HOUR_MS = 3_600_000

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
        evm: { chain_id: CHAIN_ID, rpc_url: node.url, token: token.address, token_name, token_version },
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
    return {
      address: account.address,
      fetch: client.fetch,
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
    const later = await startPaidApp(storeUrl, config, { now: () => new Date(Date.now() + ms) })
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
    void sent(payer.row).then(() => rpc(anvil.url, 'anvil_mine', ['0x1']))
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
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    assert.equal(error.code, 'upstream_unreachable')
    assert.doesNotMatch(error.message, /rpc_url|chain 1\b/)
    assert.equal(await token.balanceOf(payer.address), PRICE)
  })

  it('credits a payment that the chain took while nobody looked, though the node tells no events', async () => {
    const payer = await wallet()
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const doomed = await startPaidProcess({ storeUrl, config })
    const asked = payer.fetch(`${doomed.url}/v1/echo`).catch(() => undefined)
    await sent(payer.row)
    await doomed.kill()
    await asked
    await rpc(anvil.url, 'anvil_mine', ['0x1'])
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
    await rpc(anvil.url, 'anvil_mine', ['0x2'])
    await asked
    assert.equal(await token.balanceOf(payer.address), 0n)
    assert.equal((await payer.row()).status, 'served')
  })

  /** Waits until a payment's transaction has been signed and sent. */
  async function sent(row: () => Promise<{ proof: string }>): Promise<void> {
    for (;;) {
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
      if (hash && (await rpc(anvil.url, 'eth_getTransactionByHash', [hash])) !== null) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
})
