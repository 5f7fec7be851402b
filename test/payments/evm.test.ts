import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Challenge, Credential, Receipt } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { type Hex, parseSignature } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { Config } from '../../src/config/config-schema.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { toUsd } from '../../src/text/money.ts'
import { accountOf } from '../../src/wallet/ledger/accounts.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { until } from '../doubles/until.ts'
import { age } from './age.ts'
import { type PaidApp, startPaidApp } from './paid-app.ts'
import { startPaidProcess } from './paid-process.ts'

const CHAIN_ID = 31_337
const RECIPIENT = '0x00000000000000000000000000000000000000AA'
const PRICE = 90_000n

describe('payments with an EIP-3009 token on an EVM chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-payments-'))
  const storeUrl = `sqlite:${join(folder, 'store.db')}`
  let anvil: Anvil
  let token: Token
  let app: PaidApp
  let store: Store
  let config: Pick<Config, 'mpp' | 'wallet'>

  before(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID })
    token = await deployToken(anvil)
    config = configuration()
    store = await openStore(storeUrl)
    app = await startPaidApp(storeUrl, config)
  })
  after(async () => {
    await app.close()
    await store.close()
    await anvil.stop()
    rmSync(folder, { recursive: true })
  })

  function configuration(changes: Record<string, unknown> = {}): Pick<Config, 'mpp' | 'wallet'> {
    const { name: token_name, version: token_version } = token.domain
    return Config.parse({
      wallet: { private_key: KEYS[0] },
      mpp: {
        enabled: true,
        secret_key: 'a secret key of the tests, long enough'.replaceAll(' ', '-'),
        recipient: RECIPIENT,
        evm: { chain_id: CHAIN_ID, rpc_url: anvil.url, token: token.address, token_name, token_version },
        ...changes,
      },
    })
  }

  /** A wallet with enough for `calls` requests. */
  async function wallet(calls = 1) {
    const account = privateKeyToAccount(generatePrivateKey())
    if (calls > 0) await token.mint(account.address, PRICE * BigInt(calls))
    const client = Mppx.create({
      methods: [
        evm.charge({ account, authorization: token.domain, networks: [CHAIN_ID], currencies: [token.address] }),
      ],
      polyfill: false,
    })
    const address = account.address.toLowerCase()
    return {
      account,
      address,
      fetch: client.fetch,
      /** A credential for a challenge that was just asked for. */
      sign: async (url: string) => client.createCredential(await fetch(url)),
      credited: () => available(address),
    }
  }

  const pay = (url: string, authorization: string) => fetch(url, { headers: { authorization } })

  async function assertRefused(response: Response, reason: RegExp): Promise<void> {
    assert.equal(response.status, 402)
    const { error } = (await response.json()) as { error: { code: string; type: string; message: string } }
    assert.equal(error.code, 'payment_required')
    assert.equal(error.type, 'payment_required')
    assert.match(error.message, reason)
    assert.match(response.headers.get('www-authenticate') ?? '', /^Payment /)
    assert.equal(response.headers.get('payment-receipt'), null)
  }

  it('answers an unpaid request with a challenge that says what it costs', async () => {
    const response = await fetch(`${app.url}/v1/echo`, { method: 'POST' })
    const challenge = Challenge.fromResponse(response.clone())
    await assertRefused(response, /answer the challenge/)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(challenge.method, 'evm')
    assert.equal(challenge.intent, 'charge')
    assert.equal(challenge.realm, 'gazeway')
    assert.deepEqual(challenge.request, {
      amount: '90000',
      currency: token.address,
      recipient: RECIPIENT,
      methodDetails: { chainId: CHAIN_ID, credentialTypes: ['authorization'], decimals: 6 },
    })
  })

  it('gives each request a challenge of its own, and serves what one wallet pays for at once', async () => {
    const terms = { amount: Number(PRICE), scope: 'GET /v1/echo', description: 'An echo' }
    const asked = await Promise.all(Array.from({ length: 100 }, () => app.payments.challenges(terms)))
    assert.equal(new Set(asked.flat().map((header) => Challenge.deserialize(header).id)).size, 100)
    const payer = await wallet(5)
    const replies = await Promise.all(Array.from({ length: 5 }, () => payer.fetch(`${app.url}/v1/echo`)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
    assert.equal(await token.balanceOf(payer.address), 0n)
  })

  it('serves a request that is paid for, settles it on the chain and sends a receipt', async () => {
    const payer = await wallet()
    const before = await token.balanceOf(RECIPIENT)
    const response = await payer.fetch(`${app.url}/v1/echo`, { method: 'POST', body: '{}' })
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { payer: payer.address })
    const receipt = Receipt.fromResponse(response)
    assert.equal(receipt.method, 'evm')
    assert.match(receipt.reference, /^0x[0-9a-f]{64}$/)
    assert.equal(response.headers.get('cache-control'), 'private')
    assert.equal(await token.balanceOf(payer.address), 0n)
    assert.equal((await token.balanceOf(RECIPIENT)) - before, PRICE)
    const row = await store.db
      .selectFrom('payments')
      .selectAll()
      .where('payer', '=', payer.address)
      .executeTakeFirstOrThrow()
    assert.equal(row.status, 'served')
    assert.equal(row.reference, receipt.reference)
    assert.equal(row.lease_until, null)
  })

  it('serves a payment once, however often and wherever it is sent', async () => {
    const payer = await wallet(3)
    const authorization = await payer.sign(`${app.url}/v1/echo`)
    const other = await startPaidProcess({ storeUrl, config })
    const urls = [app.url, other.url]
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, i) => pay(`${urls[i % 2]}/v1/echo`, authorization)),
    )
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
    assert.equal(responses.filter(({ status }) => status === 402).length, 11)
    await other.kill()
    const restarted = await startPaidProcess({ storeUrl, config })
    await assertRefused(await pay(`${restarted.url}/v1/echo`, authorization), /used before/)
    await restarted.kill()
    await assertRefused(await pay(`${app.url}/v1/echo`, authorization), /used before/)
    assert.equal(await token.balanceOf(payer.address), PRICE * 2n)
  })

  it('settles payments of several wallets at the same time, from two processes with one account', async () => {
    const other = await startPaidProcess({ storeUrl, config })
    const payers = await Promise.all(Array.from({ length: 6 }, () => wallet(0)))
    for (const { address } of payers) await token.mint(address, PRICE)
    const responses = await Promise.all(payers.map((payer, i) => payer.fetch(`${i % 2 ? other.url : app.url}/v1/echo`)))
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    for (const { address } of payers) assert.equal(await token.balanceOf(address), 0n)
    await other.kill()
  })

  it('refuses a credential that was tampered with, before anything moves', async () => {
    const payer = await wallet(2)
    const stranger = await wallet(0)
    const url = `${app.url}/v1/echo`
    const credential = Credential.deserialize<Record<string, string>>(await payer.sign(url))
    const { challenge, payload } = credential
    const forged = (changes: object) => Credential.serialize({ ...credential, ...changes } as Credential.Credential)
    const signed = await stranger.account.signMessage({ message: 'not a payment' })
    const cases: Array<[string, RegExp]> = [
      [forged({ payload: { ...payload, signature: signed } }), /signature mismatch/],
      [forged({ payload: { ...payload, signature: `0x${'ff'.repeat(65)}` } }), /not valid|malformed|signature/i],
      [forged({ payload: { ...payload, from: stranger.account.address } }), /signature mismatch/],
      [forged({ payload: { ...payload, to: stranger.account.address } }), /recipient mismatch/],
      [forged({ payload: { ...payload, value: '1' } }), /amount mismatch/],
      [forged({ payload: { ...payload, nonce: `0x${'11'.repeat(32)}` } }), /hash mismatch/],
      [forged({ payload: { type: 'authorization' } }), /invalid|not valid|malformed/i],
      [forged({ challenge: { ...challenge, request: { ...challenge.request, amount: '1' } } }), /not issued by this/],
      [forged({ challenge: { ...challenge, expires: '2999-01-01T00:00:00Z' } }), /not issued by this/],
      ['Payment not-a-credential', /cannot be read/],
      ['Bearer gzw_something', /answer the challenge/],
    ]
    const served = app.served()
    for (const [authorization, reason] of cases) await assertRefused(await pay(url, authorization), reason)
    assert.equal(app.served(), served)
    assert.equal(await token.balanceOf(payer.address), PRICE * 2n)
    // What was tried with it has not used the credential up.
    assert.equal((await pay(url, Credential.serialize(credential))).status, 200)
  })

  it('refuses a payment for another path, price, recipient or platform', async () => {
    const payer = await wallet(5)
    const authorization = await payer.sign(`${app.url}/v1/echo`)
    await assertRefused(await pay(`${app.url}/v1/failing`, authorization), /scope does not match/)
    const changes = [
      { amount_usd: 0.1 },
      { recipient: payer.account.address },
      { realm: 'elsewhere' },
      { secret_key: 'x'.repeat(32) },
    ]
    for (const change of changes) {
      const other = await startPaidApp(`sqlite:${join(folder, 'other.db')}`, configuration(change))
      await assertRefused(await pay(`${other.url}/v1/echo`, authorization), /does not match|not issued by this/)
      await other.close()
    }
    assert.equal(await token.balanceOf(payer.address), PRICE * 5n)
  })

  it('refuses a credential whose challenge has expired', async () => {
    const payer = await wallet()
    const secretKey = config.mpp.secret_key as string
    const fresh = Challenge.fromResponse(await fetch(`${app.url}/v1/echo`))
    const { id: _, ...rest } = fresh
    const expired = Challenge.from({
      ...rest,
      expires: '2020-01-01T00:00:00.000Z',
      secretKey,
    } as Challenge.from.Parameters)
    const headers = { 'www-authenticate': Challenge.serialize(expired) }
    const client = evm.charge({ account: payer.account, authorization: token.domain })
    const late = Challenge.fromResponse(new Response(null, { status: 402, headers }))
    const authorization = await client.createCredential({ challenge: late, context: {} } as never)
    await assertRefused(await pay(`${app.url}/v1/echo`, authorization), /expired/)
  })

  it('refuses a wallet without enough funds, which may pay once it has them', async () => {
    const payer = await wallet(0)
    const authorization = await payer.sign(`${app.url}/v1/echo`)
    await assertRefused(
      await pay(`${app.url}/v1/echo`, authorization),
      /refuses the transfer \(ERC20InsufficientBalance\)/,
    )
    await token.mint(payer.address, PRICE)
    assert.equal((await pay(`${app.url}/v1/echo`, authorization)).status, 200)
  })

  for (const path of ['failing', 'refusing', 'cut', 'nowhere'])
    it(`credits a payment once when the request fails (${path})`, async () => {
      const payer = await wallet()
      const authorization = await payer.sign(`${app.url}/v1/${path}`)
      const response = await pay(`${app.url}/v1/${path}`, authorization)
      assert.equal(response.status, { failing: 502, refusing: 404, cut: 200, nowhere: 404 }[path])
      assert.ok(response.headers.get('payment-receipt'))
      await response.text().catch(() => undefined)
      await assertRefused(await pay(`${app.url}/v1/${path}`, authorization), /used before/)
      assert.equal(await app.payments.sweep(100), 0)
      assert.equal(await payer.credited(), 0.09)
      assert.equal(await token.balanceOf(payer.address), 0n)
    })

  it('credits the key that the wallet is bound to', async () => {
    const payer = await wallet()
    const { createKeys } = await import('../../src/identity/keys.ts')
    const keys = createKeys({ store, now: () => new Date(), fixedKey: null, onError: assert.ifError })
    const { record } = await keys.create({ name: 'payer', wallet: payer.account.address })
    await payer.fetch(`${app.url}/v1/failing`)
    await keys.close()
    assert.equal(await available(record.id), 0.09)
    assert.equal(await payer.credited(), 0)
  })

  it('credits the payment of a process that was killed before it had served it', async () => {
    const payer = await wallet()
    const doomed = await startPaidProcess({ storeUrl, config })
    const response = await payer.fetch(`${doomed.url}/v1/waiting`)
    assert.equal(response.status, 200)
    await doomed.kill()
    await response.text().catch(() => undefined)
    assert.equal(await app.payments.sweep(100), 0)
    await age(store, 61_000)
    const later = await startPaidApp(storeUrl, config)
    assert.equal(await later.payments.sweep(100), 1)
    assert.equal(await later.payments.sweep(100), 0)
    assert.deepEqual(later.errors, [])
    await later.close()
    assert.equal(await payer.credited(), 0.09)
  })

  it('gives no answer after the payment was credited, to a process that was suspended in between', async (t) => {
    const payer = await wallet()
    const asleep = await startPaidProcess({ storeUrl, config, leaseMs: 3000 })
    t.after(() => asleep.kill())
    const asked = payer.fetch(`${asleep.url}/v1/held`)
    // It is at rest then, and holds no lock of the store.
    await until(async () => (await (await fetch(`${asleep.url}/held`)).json()) === 1)
    asleep.suspend()
    await until(async () => (await app.payments.sweep(100)) > 0, { seconds: 20 })
    asleep.resume()
    await fetch(`${asleep.url}/go`)
    const response = await asked
    assert.equal(response.status, 504)
    assert.match(await response.text(), /The answer came too late/)
    assert.deepEqual([await payer.credited(), await status(payer.address)], [0.09, 'credited'])
  })

  it('leaves the payments of a process alone whose clock is 20 minutes behind', async (t) => {
    const payer = await wallet()
    const ahead = await startPaidApp(storeUrl, config, { now: () => new Date(Date.now() + 1_200_000) })
    t.after(() => ahead.close())
    const asked = payer.fetch(`${app.url}/v1/held`)
    await until(async () => (await status(payer.address)) === 'settled')
    assert.equal(await ahead.payments.sweep(100), 0)
    await fetch(`${app.url}/go`)
    assert.equal((await asked).status, 200)
    assert.deepEqual([await payer.credited(), await status(payer.address)], [0, 'served'])
  })

  it('credits a payment that was confirmed while Gazeway was down, and writes off one that never was', async () => {
    const [paid, unpaid] = [await wallet(), await wallet()]
    for (const payer of [paid, unpaid]) {
      const credential = Credential.deserialize<Record<string, string>>(await payer.sign(`${app.url}/v1/echo`))
      const { challenge, payload } = credential
      await store.db
        .insertInto('payments')
        .values({
          id: challenge.id,
          method: 'evm',
          payer: payer.address,
          account: payer.address,
          amount_micros: 90_000,
          scope: 'GET /v1/echo',
          proof: payload.nonce as string,
          reference: null,
          status: 'claimed',
          lease_until: new Date(0).toISOString(),
          created_at: new Date(0).toISOString(),
          expires_at: new Date(challenge.expires as string).toISOString(),
          account_named: 1,
        })
        .execute()
      if (payer === paid) await carryOut(payload)
    }
    assert.equal(await app.payments.sweep(100), 2)
    assert.equal(await paid.credited(), 0.09)
    assert.equal(await status(unpaid.address), 'claimed')
    await age(store, 3_600_000)
    const later = await startPaidApp(storeUrl, config)
    assert.equal(await later.payments.sweep(100), 1)
    await later.close()
    assert.equal(await status(unpaid.address), 'failed')
    assert.equal(await unpaid.credited(), 0)
  })

  it('credits a payment that someone else carried out first', async () => {
    const payer = await wallet(2)
    const authorization = await payer.sign(`${app.url}/v1/echo`)
    await carryOut(Credential.deserialize<Record<string, string>>(authorization).payload)
    const response = await pay(`${app.url}/v1/echo`, authorization)
    assert.equal(response.status, 504)
    assert.equal(await app.payments.sweep(100), 1)
    assert.equal(await payer.credited(), 0.09)
  })

  it('answers 502 and moves nothing when the chain cannot be reached', async () => {
    const payer = await wallet()
    const { evm: settings } = config.mpp
    const away = await startPaidApp(storeUrl, configuration({ evm: { ...settings, rpc_url: 'http://127.0.0.1:9' } }))
    const response = await payer.fetch(`${away.url}/v1/echo`)
    assert.equal(response.status, 502)
    assert.equal(away.served(), 0)
    await away.close()
    assert.equal(await token.balanceOf(payer.address), PRICE)
  })

  /** Balance of a caller, in USD. */
  async function available(caller: string): Promise<number> {
    const { id } = accountOf('caller', caller)
    const row = await store.db
      .selectFrom('ledger_accounts')
      .select('balance_micros')
      .where('id', '=', id)
      .executeTakeFirst()
    return toUsd(row?.balance_micros ?? 0)
  }

  const status = async (payer: string) =>
    (await store.db.selectFrom('payments').select('status').where('payer', '=', payer).executeTakeFirst())?.status

  async function carryOut({ from, to, value, validAfter, validBefore, nonce, signature }: Record<string, string>) {
    const { r, s, yParity } = parseSignature(signature as Hex)
    await token.call('transferWithAuthorization', [from, to, value, validAfter, validBefore, nonce, 27 + yParity, r, s])
  }
})
