import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { encodeAbiParameters, keccak256, parseTransaction, toHex } from 'viem'
import { checkChains } from '../../src/chain/check-chains.ts'
import { createSigner } from '../../src/chain/signer.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { until } from '../doubles/until.ts'
import { type Anvil, KEYS, startAnvil } from './anvil.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { rpc } from './rpc.ts'
import { type ChainSetup, chainOn, holdBlocks, newRecipient, POLL_MS, releaseBlocks, type TestChain } from './setup.ts'
import { deployToken, type Token } from './token.ts'

const CHAIN_ID = 31_337
const CENT = 10_000
const FUNDS = 1_000_000_000n
const SECRET = 'k3y-of-the-operator-0123456789'

describe('settlement on a chain that misbehaves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-settlement-faults-'))
  const payer = createSigner(KEYS[0]).address
  let anvil: Anvil
  let node: FaultyNode
  let token: Token
  let store: Store
  let clean: string
  let stores = 0
  let gateways: TestChain[]

  before(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID })
    node = await startFaultyNode(anvil.url)
    token = await deployToken(anvil)
    await token.mint(payer, FUNDS)
  })
  after(async () => {
    node.stop()
    await anvil.stop()
    rmSync(folder, { recursive: true })
  })
  beforeEach(async () => {
    gateways = []
    clean = await rpc(anvil.url, 'evm_snapshot', [])
    store = await openStore(`sqlite:${join(folder, `store-${++stores}.db`)}`)
  })
  afterEach(async () => {
    node.lie = undefined
    node.delayMs = 0
    for (const chain of gateways) await chain.stop()
    await store.close()
    await rpc(anvil.url, 'anvil_dropAllTransactions', [])
    await rpc(anvil.url, 'evm_revert', [clean])
    await rpc(anvil.url, 'evm_setAutomine', [true])
    // That of the next block is not taken back with the others.
    await rpc(anvil.url, 'anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00'])
  })

  function gateway(setup: Partial<ChainSetup> = {}, now?: () => Date): TestChain {
    const url = `${node.url}/v2/${SECRET}`
    const chain = chainOn(store, { url, chainId: CHAIN_ID, token: token.address, ...setup }, now)
    gateways.push(chain)
    return chain
  }
  const stateOf = async (chain: TestChain, escrowId: string) =>
    (await chain.settlements.states([escrowId])).get(escrowId)
  const setBalance = (units: bigint) =>
    rpc(anvil.url, 'anvil_setStorageAt', [
      token.address,
      keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [payer, 0n])),
      toHex(units, { size: 32 }),
    ])
  /** Says that so many transactions of an account are on their way or in a block. */
  const countsPending =
    (count: number) =>
    ({ method, params }: { method: string; params: readonly unknown[] }) =>
      method === 'eth_getTransactionCount' && params[1] === 'pending' ? { result: toHex(count) } : undefined
  /** Says that the token has other decimals. */
  const decimalsOf = (decimals: number) => (asked: { method: string; params: readonly unknown[] }) =>
    JSON.stringify(asked.params).includes('0x313ce567')
      ? { result: `0x${decimals.toString(16).padStart(64, '0')}` }
      : undefined

  it('pays a token of 18 decimals to the micro-dollar', async () => {
    await setBalance(10n ** 18n)
    node.lie = decimalsOf(18)
    const chain = gateway({ decimals: 18 })
    const recipient = newRecipient()
    chain.start()
    await chain.owe('esc_1', recipient, 123_457)
    await chain.until('esc_1', ({ status }) => status === 'confirmed')
    assert.equal(await token.balanceOf(recipient), 123_457n * 10n ** 12n)
  })

  it('signs nothing for a token that counts otherwise than it is configured to', async () => {
    const chain = gateway({ decimals: 18 })
    chain.start()
    await chain.owe('esc_1', newRecipient(), CENT)
    await chain.until('esc_1', ({ error }) => /has 6 decimals, not 18/.test(error ?? ''))
    assert.equal((await stateOf(chain, 'esc_1'))?.attempts, 0)
    await assert.rejects(checkChains(chain), /has 6 decimals, not 18/)
  })

  it('signs nothing for a token address at which there is no contract', async () => {
    const chain = gateway({ token: newRecipient() })
    chain.start()
    await chain.owe('esc_1', newRecipient(), CENT)
    await chain.until('esc_1', ({ error, attempts }) => error !== null || attempts > 0)
    assert.equal((await stateOf(chain, 'esc_1'))?.attempts, 0)
    assert.match((await stateOf(chain, 'esc_1'))?.error ?? '', /no contract at 0x/)
    await assert.rejects(checkChains(chain), { code: 'config_invalid', message: /no contract at 0x/ })
  })

  it('names the setting of a node that answers and then refuses, and not its address', async () => {
    const chain = gateway()
    for (const refused of ['eth_call', 'eth_getBalance']) {
      node.lie = ({ method }) => (method === refused ? { status: 429, body: 'slow down' } : undefined)
      await assert.rejects(checkChains(chain), {
        code: 'upstream_unreachable',
        message: new RegExp(
          `^\\S+ \\(${CHAIN_ID}\\): The node answered HTTP 429\\. Check chain\\.rpc_urls\\.${CHAIN_ID}\\.$`,
        ),
      })
    }
  })

  it('pays in the token of a corrected address what was released while there was no contract', async () => {
    const wrong = gateway({ token: newRecipient() })
    const recipient = newRecipient()
    await wrong.owe('esc_1', recipient, CENT)
    const corrected = gateway()
    corrected.start()
    await corrected.until('esc_1', ({ status, error }) => status === 'confirmed' || error !== null)
    assert.equal((await stateOf(corrected, 'esc_1'))?.error, null)
    assert.equal(await token.balanceOf(recipient), 10_000n)
    const row = await store.db.selectFrom('settlements').select('token').executeTakeFirstOrThrow()
    assert.equal(row.token, token.address.toLowerCase())
  })

  it('pays in no other token what was released in one', async () => {
    const before = gateway()
    await before.owe('esc_1', newRecipient(), CENT)
    const other = await deployToken(anvil)
    const since = gateway({ token: other.address })
    since.start()
    await since.until('esc_1', ({ error }) => /token has changed since/.test(error ?? ''))
    assert.equal((await stateOf(since, 'esc_1'))?.attempts, 0)
  })

  it('pays a token that does not tell its decimals', async () => {
    node.lie = ({ method, params }) =>
      method === 'eth_call' && JSON.stringify(params).includes('0x313ce567') ? { result: '0x' } : undefined
    const chain = gateway()
    chain.start()
    await chain.owe('esc_1', newRecipient(), CENT)
    await chain.until('esc_1', ({ status }) => status === 'confirmed')
  })

  it('tells the operator of payments that wait for a chain which is not paid on any more', async () => {
    const chain = gateway()
    await chain.owe('esc_1', newRecipient(), 2 * CENT)
    await chain.owe('esc_2', newRecipient(), CENT)
    assert.deepEqual(await chain.stranded(), [])
    const moved = chainOn(store, {
      url: anvil.url,
      chainId: CHAIN_ID,
      token: token.address,
      settlement: { mode: 'ledger' },
    })
    assert.deepEqual(await moved.stranded(), [{ chainId: CHAIN_ID, payments: 2, usd: 0.03 }])
    await assert.rejects(checkChains(moved), {
      code: 'config_invalid',
      message: new RegExp(`2 payments of escrows and withdrawals, 0.03 USD in all, wait for the chain ${CHAIN_ID}`),
    })
  })

  it('does not pay again where the token kept a part of what it moved', async () => {
    let at = Date.now()
    const chain = gateway({}, () => new Date(at))
    const recipient = newRecipient()
    // As a token with a fee on transfers tells it.
    node.lie = ({ method, params }) => (method === 'eth_getTransactionReceipt' ? lessMoved(params[0], 100n) : undefined)
    const receipts = new Map<unknown, object>()
    const asked: Promise<void>[] = []
    function lessMoved(hash: unknown, kept: bigint) {
      const receipt = receipts.get(hash) as { logs: { data: string }[] } | undefined
      if (!receipt) {
        asked.push(
          rpc<object>(anvil.url, 'eth_getTransactionReceipt', [hash]).then(
            (found) => void (found && receipts.set(hash, found)),
          ),
        )
        return { result: null }
      }
      const logs = receipt.logs.map((log) => ({ ...log, data: toHex(BigInt(log.data) - kept, { size: 32 }) }))
      return { result: { ...receipt, logs } }
    }
    chain.start()
    await chain.owe('esc_1', recipient, CENT)
    await chain.until('esc_1', ({ status, error }) => status === 'failed' && /not retried/.test(error ?? ''))
    at += 86_400_000
    await rounds()
    assert.equal((await stateOf(chain, 'esc_1'))?.attempts, 1)
    assert.equal(await token.balanceOf(recipient), 10_000n)
    await chain.stop()
    await Promise.all(asked)
  })

  for (const [wakes, said] of [
    ['and then signs', undefined],
    ['and is then not answered', 'hang up'],
  ] as const)
    it(`does not pay again what only a person may repeat where another process slept meanwhile, ${wakes}`, async () => {
      let at = Date.now()
      const slow = await startFaultyNode(anvil.url)
      const sleeper = gateway({ url: slow.url }, () => new Date(at))
      const recipient = newRecipient()
      let wake = () => {}
      const slept = new Promise<void>((resolve) => {
        wake = resolve
      })
      let asleep = 0
      slow.before = async ({ method }) => {
        if (method !== 'eth_estimateGas' || asleep > 0) return
        asleep++
        await slept
        slow.lie = ({ method }) => (method === 'eth_estimateGas' ? said : undefined)
      }
      await sleeper.owe('esc_1', recipient, CENT)
      sleeper.start()
      await until(() => asleep > 0)
      // As the other one leaves it.
      const kept = { status: 'failed', attempts: 1, error: 'Look at it.', next_at: '9999-12-31T23:59:59.999Z' }
      await store.db.updateTable('settlements').set(kept).execute()
      wake()
      await rounds()
      at += 86_400_000
      await rounds()
      const { tx_hash, ...state } = (await stateOf(sleeper, 'esc_1')) ?? assert.fail()
      assert.deepEqual(state, { status: 'failed', attempts: 1, error: 'Look at it.' })
      assert.equal(await token.balanceOf(recipient), 0n)
      await sleeper.stop()
      slow.stop()
    })

  it('knows what was paid by what was signed, whatever the token is now', async () => {
    await holdBlocks(anvil)
    const before = gateway()
    const recipient = newRecipient()
    before.start()
    await before.owe('esc_1', recipient, CENT)
    await before.until('esc_1', ({ status }) => status === 'submitted')
    await before.stop()
    await releaseBlocks(anvil)
    const since = gateway({ token: newRecipient(), decimals: 18 })
    since.start()
    await since.until('esc_1', ({ status }) => status === 'confirmed')
    assert.equal(since.confirmed.length, 1)
  })

  it('still tells of what was paid on the chain once the ledger alone pays', async () => {
    const chain = gateway()
    chain.start()
    await chain.owe('esc_1', newRecipient(), CENT)
    await chain.until('esc_1', ({ status }) => status === 'confirmed')
    const since = gateway({ settlement: { mode: 'ledger' } })
    assert.deepEqual(await stateOf(since, 'esc_1'), await stateOf(chain, 'esc_1'))
    assert.notEqual(await stateOf(since, 'esc_1'), undefined)
  })

  it('never sends again what another number has replaced, however far the chain goes back', async () => {
    let at = Date.now()
    const chain = gateway({ settlement: { stuck_after_seconds: 1 } }, () => new Date(at))
    const recipient = newRecipient()
    await holdBlocks(anvil)
    const young = await rpc(anvil.url, 'evm_snapshot', [])
    chain.start()
    await chain.owe('esc_1', recipient, CENT)
    await chain.until('esc_1', ({ status }) => status === 'submitted')
    await setBalance(0n)
    await releaseBlocks(anvil)
    await chain.until('esc_1', ({ status }) => status === 'failed')
    await setBalance(FUNDS)
    await holdBlocks(anvil)
    at += 60_000
    await chain.until('esc_1', ({ attempts }) => attempts === 2)
    // Deeper than it was told: the failure is gone, and the number with it.
    await rpc(anvil.url, 'evm_revert', [young])
    await rpc(anvil.url, 'evm_setAutomine', [false])
    for (let i = 0; i < 12 && !(await confirmed()); i++) {
      await rounds()
      at += 1500
      await rpc(anvil.url, 'evm_mine', [])
    }
    async function confirmed() {
      return (await stateOf(chain, 'esc_1'))?.status === 'confirmed'
    }
    assert.ok(await confirmed(), 'it is paid in the end')
    assert.equal(await token.balanceOf(recipient), 10_000n)
  })

  for (const [amount, gas] of [
    ['more gas than a block holds', '0x2625a00'],
    ['less gas than anything takes', '0x2'],
  ] as const)
    it(`signs nothing where the node says that a transfer takes ${amount}`, async () => {
      let at = Date.now()
      const chain = gateway({}, () => new Date(at))
      node.lie = ({ method }) => (method === 'eth_estimateGas' ? { result: gas } : undefined)
      chain.start()
      await chain.owe('esc_1', newRecipient(), CENT)
      await chain.until('esc_1', ({ error, attempts }) => error !== null || attempts > 0)
      assert.equal((await stateOf(chain, 'esc_1'))?.attempts, 0)
      assert.match((await stateOf(chain, 'esc_1'))?.error ?? '', new RegExp(`estimates ${Number(gas)} gas`))
      node.lie = undefined
      at += 60_000
      await chain.until('esc_1', ({ status }) => status === 'confirmed')
    })

  for (const [then, funds] of [
    ['is paid', FUNDS],
    ['fails', 0n],
  ] as const)
    it(`asks again how much gas a stuck transaction takes, so that one of which too much was said ${then}`, async () => {
      const chain = gateway({ settlement: { stuck_after_seconds: 1 } })
      const most = 16_777_216n
      node.lie = ({ method, params: [raw] }) => {
        if (method === 'eth_estimateGas') return { result: toHex(most) }
        const isRefused = method === 'eth_sendRawTransaction' && (parseTransaction(raw as `0x02`).gas ?? 0n) > most
        return isRefused ? { error: { code: -32_000, message: 'transaction gas limit too high' } } : undefined
      }
      chain.start()
      await chain.owe('esc_1', newRecipient(), CENT)
      await chain.until('esc_1', ({ attempts }) => attempts === 1)
      await setBalance(funds)
      const refuse = node.lie
      node.lie = (asked) => (asked.method === 'eth_estimateGas' ? undefined : refuse(asked))
      await chain.until('esc_1', ({ status }) => status === (funds > 0n ? 'confirmed' : 'failed'))
    })

  it('says that fees are above the limit, and looks after the others all the same', async () => {
    await holdBlocks(anvil)
    const chain = gateway({ settlement: { stuck_after_seconds: 1, max_fee_gwei: 10 } })
    chain.start()
    await chain.owe('esc_1', newRecipient(), CENT)
    await chain.until('esc_1', ({ status }) => status === 'submitted')
    await rpc(anvil.url, 'anvil_setNextBlockBaseFeePerGas', ['0x9184e72a000'])
    await rpc(anvil.url, 'evm_mine', [])
    await chain.until('esc_1', ({ error }) => /max_fee_gwei/.test(error ?? ''))
    assert.deepEqual(chain.errors, [])
  })

  it('signs nothing while the node reports an impossible nonce', async () => {
    let at = Date.now()
    const chain = gateway({}, () => new Date(at))
    const recipient = newRecipient()
    node.lie = countsPending(5000)
    chain.start()
    await chain.owe('esc_1', recipient, CENT)
    await chain.until('esc_1', ({ error, attempts }) => error !== null || attempts > 0)
    const state = await stateOf(chain, 'esc_1')
    assert.deepEqual([state?.status, state?.attempts], ['pending', 0])
    assert.match(state?.error ?? '', /reports 5000 as the account's next nonce, but .* it is 0/)
    node.lie = undefined
    at += 60_000
    await chain.until('esc_1', ({ status }) => status === 'confirmed')
    assert.equal(await token.balanceOf(recipient), 10_000n)
  })

  it('pays on behind transactions of its own that wait, however many', async () => {
    const chain = gateway()
    await holdBlocks(anvil)
    chain.start()
    const ids = Array.from({ length: 40 }, (_, i) => `esc_${i}`)
    for (const id of ids) await chain.owe(id, newRecipient(), CENT)
    for (const id of ids) await chain.until(id, ({ status }) => status === 'submitted')
    await chain.owe('esc_last', newRecipient(), CENT)
    await chain.until('esc_last', ({ status, error }) => status === 'submitted' || error !== null)
    assert.equal((await stateOf(chain, 'esc_last'))?.error, null)
  })

  it('says for which number a payment waits that was signed behind one that is missing', async () => {
    const chain = gateway({ settlement: { stuck_after_seconds: 1 } })
    const [one, other] = [newRecipient(), newRecipient()]
    await holdBlocks(anvil)
    node.lie = countsPending(2)
    chain.start()
    await chain.owe('esc_1', one, CENT)
    await chain.until('esc_1', ({ status }) => status === 'submitted')
    node.lie = undefined
    await chain.owe('esc_2', other, CENT)
    for (const id of ['esc_1', 'esc_2'])
      await chain.until(id, ({ error }) => /the account's nonce 0,/.test(error ?? ''))
    await releaseBlocks(anvil)
    for (const id of ['esc_1', 'esc_2'])
      await chain.until(id, ({ status, error }) => status === 'confirmed' && error === null)
    assert.equal(await token.balanceOf(one), 10_000n)
    assert.equal(await token.balanceOf(other), 10_000n)
  })

  it('stops soon, however slow the node is and however much is due', async () => {
    const chain = gateway()
    node.delayMs = 250
    for (let i = 0; i < 40; i++) await chain.owe(`esc_${i}`, newRecipient(), CENT)
    chain.start()
    await rounds()
    const start = performance.now()
    await chain.stop()
    const took = performance.now() - start
    // To pay all that is due, it would ask more than 100 times.
    assert.ok(took < 15_000, `it took ${took} ms`)
  })

  it('looks seldom at a node that is down, and at once when there is something to pay', async () => {
    const chain = gateway()
    await holdBlocks(anvil)
    chain.start()
    await chain.owe('esc_1', newRecipient(), CENT)
    await chain.until('esc_1', ({ status }) => status === 'submitted')
    node.lie = () => ({ error: { code: -32_005, message: `project ${SECRET} is over its limit` } })
    await new Promise((resolve) => setTimeout(resolve, 1000))
    assert.ok(chain.errors.length < 8, `${chain.errors.length} errors in a second, of rounds of ${POLL_MS} ms`)
  })

  it('shows no key that the node quotes', async () => {
    const chain = gateway()
    node.lie = ({ method }) =>
      method === 'eth_estimateGas'
        ? { error: { code: -32_005, message: `project ${SECRET} is over its limit` } }
        : undefined
    chain.start()
    await chain.owe('esc_1', newRecipient(), CENT)
    await chain.until('esc_1', ({ error }) => error !== null)
    assert.equal((await stateOf(chain, 'esc_1'))?.error, 'project *** is over its limit')
  })
})

/** Time for a few rounds. */
const rounds = () => new Promise((resolve) => setTimeout(resolve, 8 * POLL_MS))
