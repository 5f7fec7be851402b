import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Withdrawal } from '../../src/chain/withdrawals.ts'
import { type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { until } from '../doubles/until.ts'
import { type Anvil, KEYS, startAnvil } from './anvil.ts'
import { chainConfig, newRecipient } from './setup.ts'
import { deployToken, type Token } from './token.ts'

/** The address of `KEYS[0]`, which pays. */
const VAULT = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

describe('a withdrawal', () => {
  let anvil: Anvil
  let token: Token
  let platform: RunningPlatform
  let settling: { stop(): Promise<void> }

  before(async () => {
    anvil = await startAnvil({ chainId: 31_337 })
    token = await deployToken(anvil)
    await token.mint(VAULT, 100_000_000n)
    const { chain } = chainConfig({ url: anvil.url, chainId: 31_337, token: token.address })
    platform = await startPlatform('sandbox', { document: { chain }, env: { GAZEWAY_WALLET_PRIVATE_KEY: KEYS[0] } })
    settling = platform.gateway.chain.startSettling(platform.gateway.settled)
  })
  after(async () => {
    await settling.stop()
    await platform.close()
    await anvil.stop()
  })

  const withdraw = (body: object, headers: Record<string, string> = {}, key = platform.admin) =>
    fetch(`${platform.url}/api/wallet/withdraw`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(body),
    })
  const read = async (id: string) => {
    const headers = { authorization: `Bearer ${platform.admin}` }
    return (await (await fetch(`${platform.url}/api/wallet/withdraw/${id}`, { headers })).json()) as Withdrawal
  }
  const deposit = (caller_id: string, amount_usd: number) =>
    platform.gateway.wallet.deposit({ caller_id, amount_usd, reference: `test:${caller_id}:${amount_usd}` })
  const left = async (id: string) => (await platform.gateway.wallet.balances(id)).available_usd
  async function audit(): Promise<void> {
    assert.deepEqual((await platform.gateway.wallet.verify()).faults, [])
  }
  const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code

  it('pays what a wallet deposited back on the chain, exactly', async () => {
    const [wallet, to] = [newRecipient(), newRecipient()]
    await deposit(wallet, 2.5)
    const response = await withdraw({ caller_id: wallet, amount_usd: 1.25, to })
    assert.equal(response.status, 200)
    const made = (await response.json()) as Withdrawal
    assert.deepEqual(
      [made.caller_id, made.amount_usd, made.to, made.token, made.settlement.status, made.settled_at],
      [wallet, 1.25, to, 'USDT', 'pending', null],
    )
    assert.equal(await left(wallet), 1.25, 'it has left at once')
    await until(async () => (await read(made.id)).settlement.status === 'confirmed')
    const paid = await read(made.id)
    assert.match(paid.settlement.tx_hash ?? '', /^0x[0-9a-f]{64}$/)
    assert.notEqual(paid.settled_at, null)
    assert.equal(await token.balanceOf(to), 1_250_000n)
    const { balances } = await platform.gateway.wallet.verify()
    assert.equal(balances.settling ?? 0, 0)
    await audit()
  })

  it('happens once under an Idempotency-Key, however often it is asked for', async () => {
    const [wallet, to] = [newRecipient(), newRecipient()]
    await deposit(wallet, 10)
    const body = { caller_id: wallet, amount_usd: 3, to }
    const key = { 'idempotency-key': 'pay-back' }
    const replies = await Promise.all([1, 2, 3, 4].map(() => withdraw(body, key)))
    assert.ok(replies.every(({ status }) => status === 200 || status === 409))
    const again = await withdraw(body, key)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.equal((await withdraw({ ...body, amount_usd: 4 }, key)).status, 422)
    const { id } = (await again.json()) as Withdrawal
    await until(async () => (await read(id)).settlement.status === 'confirmed')
    assert.equal(await left(wallet), 7)
    assert.equal(await token.balanceOf(to), 3_000_000n)
    await audit()
  })

  it('takes nothing that was not deposited: no credit, and no deposit that pays a debt', async () => {
    const { record } = await platform.gateway.keys.create({
      name: 'caller',
      scopes: ['platform'],
      limits: { credit_limit_usd: 10 },
    })
    const to = newRecipient()
    const asked = (amount_usd: number) => withdraw({ caller_id: record.id, amount_usd, to })
    assert.deepEqual([(await asked(1)).status], [402])
    await deposit(record.id, 2)
    const refused = await asked(2.000001)
    assert.deepEqual([refused.status, await codeOf(refused)], [402, 'insufficient_credit'])
    assert.equal((await asked(2)).status, 200)
    assert.deepEqual([(await asked(0.000001)).status, await left(record.id)], [402, 0])
    await audit()
  })

  it('pays a revoked key back, and two that are asked for at once no more than there is', async () => {
    const { record } = await platform.gateway.keys.create({ name: 'gone', scopes: ['platform'] })
    await deposit(record.id, 5)
    await platform.gateway.keys.revoke(record.id)
    const to = newRecipient()
    const replies = await Promise.all([1, 2, 3, 4].map(() => withdraw({ caller_id: record.id, amount_usd: 2, to })))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 200, 402, 402])
    await until(async () => (await token.balanceOf(to)) === 4_000_000n)
    assert.equal(await left(record.id), 1)
    await audit()
  })

  it('is for admins, of somebody, to an address', async () => {
    const [wallet, to] = [newRecipient(), newRecipient()]
    assert.equal((await withdraw({ caller_id: wallet, amount_usd: 1, to }, {}, platform.key)).status, 403)
    for (const [status, wrong] of [
      [422, { to: 'key_1' }],
      [422, { to: `0x${'0'.repeat(40)}` }],
      [422, { amount_usd: 0 }],
      [422, { amount_usd: 0.0000001 }],
      [404, { caller_id: `key_${'0'.repeat(32)}` }],
    ] as const)
      assert.equal((await withdraw({ caller_id: wallet, amount_usd: 1, to, ...wrong })).status, status)
  })

  it('is refused where nothing is paid on a chain', async (t) => {
    const ledger = await startPlatform('sandbox')
    t.after(() => ledger.close())
    const { withdrawals, wallet } = ledger.gateway
    await wallet.deposit({ caller_id: ledger.keyId, amount_usd: 1, reference: 'cash' })
    const asked = { caller_id: ledger.keyId, amount_usd: 1, to: newRecipient() }
    await assert.rejects(withdrawals.make(asked), { code: 'conflict', status: 409 })
    assert.equal((await wallet.balances(ledger.keyId)).available_usd, 1)
  })
})
