import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { evm, Mppx } from 'mppx/client'
import { type Hex, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createChain } from '../../src/chain/chain.ts'
import { Config } from '../../src/config/config-schema.ts'
import { loadMethods } from '../../src/payments/methods.ts'
import { paymentSettings } from '../../src/payments/payment-settings.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { accountOf } from '../../src/wallet/ledger/accounts.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../chain/faulty-node.ts'
import { rpc } from '../chain/rpc.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { until } from '../doubles/until.ts'
import { age } from './age.ts'
import { type PaidApp, startPaidApp } from './paid-app.ts'
import { authorizedBy, spentBy } from './spent.ts'

const CHAIN_ID = 31_337
const PRICE = 90_000n
const HOUR_MS = 3_600_000
const RECIPIENT = '0x00000000000000000000000000000000000000AA'
const USE = 'transferWithAuthorization'

describe('payments whose authorization is used for something else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-payment-spent-'))
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
    config = configuration(token)
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

  function configuration({ address, domain }: Token): Pick<Config, 'mpp' | 'wallet'> {
    return Config.parse({
      wallet: { private_key: KEYS[0] },
      mpp: {
        enabled: true,
        secret_key: 'a-secret-key-of-the-tests-long-enough',
        recipient: RECIPIENT,
        evm: {
          ...{ chain_id: CHAIN_ID, rpc_url: node.url, token: address, confirmations: 3 },
          ...{ token_name: domain.name, token_version: domain.version },
        },
      },
    })
  }

  /** A wallet with enough for one request, unless told otherwise. */
  async function wallet(units = PRICE) {
    const account = privateKeyToAccount(generatePrivateKey())
    if (units > 0n) await token.mint(account.address, units)
    const payer = account.address.toLowerCase()
    return {
      account,
      address: account.address,
      sign: (url = app.url) => sign(account, url),
      rows: () => store.db.selectFrom('payments').selectAll().where('payer', '=', payer).execute(),
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

  async function sign(account: ReturnType<typeof privateKeyToAccount>, url: string): Promise<string> {
    const methods = [evm.charge({ account, authorization: token.domain, networks: [CHAIN_ID] })]
    return Mppx.create({ methods, polyfill: false }).createCredential(await fetch(`${url}/v1/echo`))
  }

  const pay = (authorization: string) => fetch(`${app.url}/v1/echo`, { headers: { authorization } })

  const misuse = (credential: string, account: ReturnType<typeof privateKeyToAccount>, other = {}) =>
    spentBy(credential, account, { token, chainId: CHAIN_ID, ...other })

  const mine = (blocks: number) => rpc(anvil.url, 'anvil_mine', [toHex(blocks)])

  /** Claims a payment, of which nothing is signed: the node fails just before that. */
  async function claimOnly(authorization: string): Promise<void> {
    node.lie = ({ method }) => (method === 'eth_estimateGas' ? 'hang up' : undefined)
    assert.equal((await pay(authorization)).status, 502)
    node.lie = undefined
  }

  /** Sweeps payments after `ms`. @returns those that were ended because they can never be made */
  async function sweepAfter(ms: number): Promise<string[]> {
    await age(store, ms)
    const later = await startPaidApp(storeUrl, config)
    await later.payments.sweep(100)
    assert.deepEqual(later.errors, [])
    await later.close()
    return later.spent
  }

  async function assertRefused(response: Response, reason: RegExp): Promise<void> {
    assert.equal(response.status, 402)
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    assert.equal(error.code, 'payment_required')
    assert.match(error.message, reason)
    assert.doesNotMatch(error.message, /later/)
  }

  const others: [string, bigint, { to?: Hex; value?: bigint }][] = [
    ['nothing, to the payer himself', 0n, {}],
    ['the amount, to the payer himself', PRICE, { value: PRICE }],
    ['less, to the recipient', PRICE, { to: RECIPIENT, value: PRICE - 1n }],
    ['more, to the recipient', PRICE + 1n, { to: RECIPIENT, value: PRICE + 1n }],
  ]
  for (const [what, units, other] of others)
    it(`refuses a payment whose nonce its payer has used for ${what}`, async () => {
      const payer = await wallet(units)
      const authorization = await payer.sign()
      await token.call(USE, await misuse(authorization, payer.account, other))
      await mine(2)
      const served = app.served()
      await assertRefused(await pay(authorization), /its authorization was used for something else/)
      assert.equal(app.served(), served)
      assert.deepEqual(await payer.rows(), [], 'nothing is open')
      await sweepAfter(HOUR_MS)
      assert.equal(await payer.credited(), 0)
    })

  it('refuses a payment that its payer overtakes after it was sent, and ends it uncredited', async () => {
    const payer = await wallet()
    const authorization = await payer.sign()
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const asked = pay(authorization)
    const payment = await sent(payer.rows)
    const from = privateKeyToAccount(KEYS[1]).address
    const data = token.dataOf(USE, await misuse(authorization, payer.account))
    const gasPrice = toHex(500_000_000_000n)
    await rpc(anvil.url, 'eth_sendTransaction', [{ from, to: token.address, data, gas: toHex(200_000), gasPrice }])
    await mine(3)
    await assertRefused(await asked, /the token refused the transfer.*No money was moved/)
    const ended = await sweepAfter(1_000)
    assert.deepEqual(ended, [payment.id])
    const [row] = await payer.rows()
    assert.deepEqual([row?.status, row?.lease_until], ['failed', null])
    assert.deepEqual(await sweepAfter(HOUR_MS), [], 'no sweep looks at it again')
    assert.equal(await payer.credited(), 0)
    assert.equal(await token.balanceOf(payer.address), PRICE)
  })

  it('ends a payment that was left open, once what its authorization was used for is deep enough', async () => {
    const payer = await wallet()
    const authorization = await payer.sign()
    await claimOnly(authorization)
    const { id } = await only(payer.rows)
    await token.call(USE, await misuse(authorization, payer.account))
    assert.deepEqual(await sweepAfter(61_000), [])
    assert.equal((await only(payer.rows)).status, 'freed')
    await mine(2)
    assert.deepEqual(await sweepAfter(2 * 61_000), [id])
    const { status, lease_until } = await only(payer.rows)
    assert.deepEqual([status, lease_until], ['failed', null])
    assert.deepEqual(await sweepAfter(HOUR_MS), [], 'no sweep looks at it again')
    assert.equal(await payer.credited(), 0)
  })

  it('credits a payment that is carried out once the chain has taken another use of its authorization back', async () => {
    const payer = await wallet()
    const authorization = await payer.sign()
    await claimOnly(authorization)
    await token.call(USE, await misuse(authorization, payer.account))
    assert.deepEqual(await sweepAfter(61_000), [])
    await rpc(anvil.url, 'anvil_reorg', [1, []])
    await token.call(USE, authorizedBy(authorization))
    await mine(2)
    assert.deepEqual(await sweepAfter(2 * 61_000), [])
    assert.equal((await only(payer.rows)).status, 'credited')
    assert.equal(await payer.credited(), Number(PRICE))
  })

  it('credits a transfer only to the payment whose authorization made it', async () => {
    const [honest, ...others] = await Promise.all([wallet(0n), wallet(0n), wallet(0n), wallet(0n)])
    await token.mint(honest.address, PRICE)
    const signed = new Map<typeof honest, string>()
    for (const payer of [honest, ...others]) signed.set(payer, await payer.sign())
    const spent = async (payer: typeof honest) => misuse(signed.get(payer) as string, payer.account)
    const [before, directlyBefore, after] = await Promise.all(others.map(spent))
    await token.callTogether([
      [USE, before as readonly unknown[]],
      [USE, directlyBefore as readonly unknown[]],
      [USE, authorizedBy(signed.get(honest) as string)],
      [USE, after as readonly unknown[]],
    ])
    for (const payer of others) await assertRefused(await pay(signed.get(payer) as string), /used for something else/)
    assert.equal((await pay(signed.get(honest) as string)).status, 504)
    await mine(2)
    await sweepAfter(61_000)
    await sweepAfter(2 * 61_000)
    for (const payer of others) assert.equal(await payer.credited(), 0)
    assert.equal(await honest.credited(), Number(PRICE))
  })

  it('credits each of several payments that somebody else carries out in one transaction', async () => {
    const payers = [await wallet(), await wallet()]
    const signed = await Promise.all(payers.map((payer) => payer.sign()))
    for (const authorization of signed) await claimOnly(authorization)
    await token.callTogether(signed.map((authorization) => [USE, authorizedBy(authorization)]))
    await mine(2)
    assert.deepEqual(await sweepAfter(61_000), [])
    for (const payer of payers) assert.equal(await payer.credited(), Number(PRICE))
    const references = await Promise.all(payers.map(async ({ rows }) => (await only(rows)).reference))
    assert.equal(references[0], references[1])
  })

  it('credits a transfer to none of several authorizations that the payer used for nothing', async () => {
    const payer = await wallet()
    const signed = await Promise.all(Array.from({ length: 10 }, () => payer.sign()))
    for (const authorization of signed.slice(0, 2)) await claimOnly(authorization)
    const uses = await Promise.all(signed.map((authorization) => misuse(authorization, payer.account)))
    // The transfer's own authorization is for no challenge.
    const own = await misuse(await payer.sign(), payer.account, { to: RECIPIENT, value: PRICE })
    const calls = uses.map((use): [string, readonly unknown[]] => [USE, use])
    await token.callTogether([...calls.slice(0, 5), [USE, own], ...calls.slice(5)])
    assert.equal(await token.balanceOf(payer.address), 0n)
    for (const authorization of signed) assert.equal((await pay(authorization)).status, 402)
    await mine(2)
    assert.equal((await sweepAfter(61_000)).length, 2)
    assert.deepEqual(new Set((await payer.rows()).map(({ status }) => status)), new Set(['failed']))
    assert.equal(await payer.credited(), 0)
  })

  it('cannot tell what a use was for while the node does not tell its receipt, and credits it later', async () => {
    const payer = await wallet()
    const authorization = await payer.sign()
    await claimOnly(authorization)
    await token.call(USE, authorizedBy(authorization))
    await mine(2)
    const silent: unknown[] = [
      null,
      {},
      { status: '0x1', blockHash: `0x${'0'.repeat(64)}`, blockNumber: '0x1', logs: [] },
    ]
    for (const result of silent) {
      node.lie = ({ method }) => (method === 'eth_getTransactionReceipt' ? { result } : undefined)
      assert.equal((await pay(authorization)).status, 502)
      await age(store, 61_000)
      const later = await startPaidApp(storeUrl, config)
      await later.payments.sweep(100)
      assert.equal(later.errors.length, 1)
      assert.deepEqual(later.spent, [])
      await later.close()
    }
    node.lie = undefined
    assert.deepEqual(await sweepAfter(61_000), [])
    assert.equal(await payer.credited(), Number(PRICE))
  })

  it('holds no transaction of its own for another use, in whatever order a token tells of it', async () => {
    const reversed = await deployToken(anvil, 'ReversedToken3009')
    const account = privateKeyToAccount(generatePrivateKey())
    await reversed.mint(account.address, PRICE)
    const other = configuration(reversed)
    const url = `sqlite:${join(folder, 'reversed.db')}`
    const [shop, kept] = [await startPaidApp(url, other), await openStore(url)]
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const methods = [evm.charge({ account, authorization: reversed.domain, networks: [CHAIN_ID] })]
    const asked = Mppx.create({ methods, polyfill: false }).fetch(`${shop.url}/v1/echo`)
    const rows = () => kept.db.selectFrom('payments').selectAll().execute()
    await sent(rows, kept)
    await mine(3)
    assert.equal((await asked).status, 200)
    const now = () => new Date()
    const chain = createChain({ store: kept, config: { ...Config.parse({}), ...other }, now, onError: assert.ifError })
    const [method] = await loadMethods(paymentSettings(other), chain)
    const { payer, proof, amount_micros: amount, reference } = await only(rows)
    assert.equal(await method?.find({ payer, proof, amount }), reference)
    assert.equal(await method?.isOpen({ payer, proof, amount }), true)
    assert.equal(await method?.isSpent?.({ payer, proof, amount }), false)
    await shop.close()
    await kept.close()
  })

  async function only<T>(rows: () => Promise<T[]>): Promise<T> {
    const [row, ...more] = await rows()
    assert.deepEqual([row === undefined, more], [false, []])
    return row as T
  }

  /** Waits until a payment's transaction is with the node. @returns the payment */
  async function sent<T extends { proof: string }>(rows: () => Promise<T[]>, { db } = store): Promise<T> {
    return until(async () => {
      const [row] = await rows()
      const purpose = `payment:${row?.proof}`
      const known = await db
        .selectFrom('chain_transactions')
        .select('hashes')
        .where('purpose', '=', purpose)
        .executeTakeFirst()
      const [hash] = known ? (JSON.parse(known.hashes) as string[]) : []
      if (row && hash && (await rpc(anvil.url, 'eth_getTransactionByHash', [hash])) !== null) return row
      return null
    })
  }
})
