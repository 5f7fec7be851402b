import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { encodeAbiParameters, keccak256, toHex } from 'viem'
import { checkChains } from '../../src/chain/check-chains.ts'
import { createSigner } from '../../src/chain/signer.ts'
import { waitingSettlements } from '../../src/chain/waiting-settlements.ts'
import type { Store } from '../../src/store/store.ts'
import { until } from '../doubles/until.ts'
import { type Anvil, KEYS, startAnvil } from './anvil.ts'
import { rpc } from './rpc.ts'
import { type ChainSetup, chainOn, holdBlocks, newRecipient, POLL_MS, releaseBlocks, type TestChain } from './setup.ts'
import { deployToken, type Token } from './token.ts'

const CHAIN_ID = 31_337
const CENT = 10_000
const FUNDS = 1_000_000_000n

/** Tests of settlement on a chain, for every store engine. */
export function settlementContract(engine: string, open: () => Promise<Store>): void {
  describe(`settlement on a chain, noted in ${engine}`, () => {
    let anvil: Anvil
    let token: Token
    let store: Store
    let clean: string
    let payer: string

    before(async () => {
      anvil = await startAnvil({ chainId: CHAIN_ID })
      token = await deployToken(anvil)
      payer = createSigner(KEYS[0]).address
      await token.mint(payer, FUNDS)
    })
    after(() => anvil.stop())
    let gateways: TestChain[]

    beforeEach(async () => {
      gateways = []
      clean = await rpc(anvil.url, 'evm_snapshot', [])
      store = await open()
    })
    afterEach(async () => {
      for (const chain of gateways) await chain.stop()
      await store.close()
      await rpc(anvil.url, 'anvil_dropAllTransactions', [])
      await rpc(anvil.url, 'evm_revert', [clean])
      await rpc(anvil.url, 'evm_setAutomine', [true])
    })

    /** A gateway that pays, which stops with the test. */
    function gateway(setup: Partial<ChainSetup> = {}, now?: () => Date): TestChain {
      const chain = chainOn(store, { url: anvil.url, chainId: CHAIN_ID, token: token.address, ...setup }, now)
      gateways.push(chain)
      return chain
    }
    const hashesOf = async (nonce = 0) => {
      const rows = await store.db.selectFrom('chain_transactions').select('hashes').orderBy('nonce').execute()
      return JSON.parse(rows[nonce]?.hashes ?? '[]') as string[]
    }
    /** Sets what the payer has of the token, without a transaction. */
    const setBalance = (units: bigint) =>
      rpc(anvil.url, 'anvil_setStorageAt', [
        token.address,
        keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [payer as `0x${string}`, 0n])),
        toHex(units, { size: 32 }),
      ])
    const mine = (blocks = 1) => rpc(anvil.url, 'anvil_mine', [`0x${blocks.toString(16)}`])
    const nonceOf = async () => Number(await rpc<string>(anvil.url, 'eth_getTransactionCount', [payer, 'latest']))

    it('pays what is owed, once, and says with which transaction', async () => {
      const chain = gateway()
      const recipient = newRecipient()
      chain.start()
      await chain.owe('esc_1', recipient, 2 * CENT)
      await chain.owe('esc_1', recipient, 2 * CENT)
      await chain.until('esc_1', ({ status }) => status === 'confirmed')
      assert.equal(await token.balanceOf(recipient), 20_000n)
      const state = (await chain.settlements.states(['esc_1', 'esc_2'])).get('esc_1')
      assert.deepEqual({ ...state, tx_hash: null }, { status: 'confirmed', tx_hash: null, attempts: 1, error: null })
      assert.deepEqual(await hashesOf(), [state?.tx_hash])
      assert.deepEqual(
        chain.confirmed.map(({ id, txHash }) => [id, txHash]),
        [['esc_1', state?.tx_hash]],
      )
      assert.deepEqual(chain.errors, [])
    })

    it('waits for as many blocks as its settings say', async () => {
      const chain = gateway({ confirmations: 3 })
      chain.start()
      await chain.owe('esc_1', newRecipient(), CENT)
      await chain.until('esc_1', ({ status }) => status === 'submitted')
      await until(async () => (await nonceOf()) > 0 && (await blockNoted(store)))
      await mine()
      await rounds()
      assert.equal(chain.confirmed.length, 0)
      assert.equal((await waitingSettlements(store, new Date())).length, 1)
      await mine()
      await chain.until('esc_1', ({ status }) => status === 'confirmed')
      assert.deepEqual(await waitingSettlements(store, new Date()), { length: 0, oldestMs: 0 })
    })

    it('replaces a transaction that is stuck, by one with the same number and a higher fee', async () => {
      await holdBlocks(anvil)
      const chain = gateway({ settlement: { stuck_after_seconds: 1 } })
      const recipient = newRecipient()
      chain.start()
      await chain.owe('esc_1', recipient, CENT)
      await chain.until('esc_1', ({ attempts }) => attempts === 2)
      const hashes = await hashesOf()
      await releaseBlocks(anvil)
      await chain.until('esc_1', ({ status, tx_hash }) => status === 'confirmed' && hashes.includes(tx_hash ?? ''))
      assert.equal(await token.balanceOf(recipient), 10_000n)
      assert.equal((await store.db.selectFrom('chain_transactions').select('nonce').execute()).length, 1)
    })

    it('sends a transaction again that the node has lost', async () => {
      await holdBlocks(anvil)
      const chain = gateway()
      const recipient = newRecipient()
      chain.start()
      await chain.owe('esc_1', recipient, CENT)
      await chain.until('esc_1', ({ status }) => status === 'submitted')
      const [hash] = await hashesOf()
      await until(async () => (await rpc(anvil.url, 'eth_getTransactionByHash', [hash])) !== null)
      assert.equal(await rpc(anvil.url, 'anvil_dropTransaction', [hash]), hash)
      await until(async () => (await rpc(anvil.url, 'eth_getTransactionByHash', [hash])) !== null)
      await releaseBlocks(anvil)
      await chain.until('esc_1', ({ status, tx_hash }) => status === 'confirmed' && tx_hash === hash)
      assert.equal(await token.balanceOf(recipient), 10_000n)
    })

    it('follows the chain when it takes a block back', async () => {
      const chain = gateway({ confirmations: 3 })
      const recipient = newRecipient()
      chain.start()
      await chain.owe('esc_1', recipient, CENT)
      await until(() => blockNoted(store))
      const [hash] = await hashesOf()
      await rpc(anvil.url, 'evm_setAutomine', [false])
      await rpc(anvil.url, 'anvil_reorg', [1, []])
      await until(async () => !(await blockNoted(store)))
      assert.equal(await token.balanceOf(recipient), 0n)
      assert.equal((await chain.settlements.states(['esc_1'])).get('esc_1')?.status, 'submitted')
      await until(async () => (await rpc(anvil.url, 'eth_getTransactionByHash', [hash])) !== null)
      await mine(3)
      await chain.until('esc_1', ({ status, tx_hash }) => status === 'confirmed' && tx_hash === hash)
      assert.equal(await token.balanceOf(recipient), 10_000n)
    })

    it('signs again when its nonce went to a transaction that was signed elsewhere, and only then', async () => {
      await holdBlocks(anvil)
      const chain = gateway({ confirmations: 2 })
      const recipient = newRecipient()
      chain.start()
      await chain.owe('esc_1', recipient, CENT)
      await chain.until('esc_1', ({ status }) => status === 'submitted')
      const [hash] = await hashesOf()
      await until(async () => (await rpc(anvil.url, 'eth_getTransactionByHash', [hash])) !== null)
      await rpc(anvil.url, 'eth_sendTransaction', [
        {
          from: payer,
          to: payer,
          value: '0x1',
          nonce: '0x0',
          gas: '0x5208',
          maxFeePerGas: '0x2540be400',
          maxPriorityFeePerGas: '0x2540be400',
        },
      ])
      await mine()
      await rounds()
      assert.equal((await chain.settlements.states(['esc_1'])).get('esc_1')?.tx_hash, hash)
      await mine()
      await chain.until('esc_1', ({ tx_hash }) => tx_hash !== null && tx_hash !== hash)
      await rpc(anvil.url, 'evm_setAutomine', [true])
      await mine(3)
      await chain.until('esc_1', ({ status }) => status === 'confirmed')
      assert.equal(await token.balanceOf(recipient), 10_000n)
    })

    it('tries a refused payment again with a new number, once the refusal is in a block', async () => {
      let at = Date.now()
      const chain = gateway({}, () => new Date(at))
      const recipient = newRecipient()
      await holdBlocks(anvil)
      chain.start()
      await chain.owe('esc_1', recipient, CENT)
      await chain.until('esc_1', ({ status }) => status === 'submitted')
      await setBalance(0n)
      await releaseBlocks(anvil)
      await chain.until('esc_1', ({ status, error }) => status === 'failed' && /refused/.test(error ?? ''))
      await setBalance(FUNDS)
      at += 60_000
      await chain.until('esc_1', ({ status, attempts }) => status === 'confirmed' && attempts === 2)
      assert.equal(await token.balanceOf(recipient), 10_000n)
    })

    it('waits while there is not enough of the token, and says so', async () => {
      let at = Date.now()
      const chain = gateway({}, () => new Date(at))
      const recipient = newRecipient()
      chain.start()
      await chain.owe('esc_1', recipient, Number(FUNDS) + 1)
      await chain.until('esc_1', ({ error }) => error !== null)
      const state = (await chain.settlements.states(['esc_1'])).get('esc_1')
      assert.deepEqual({ status: state?.status, attempts: state?.attempts }, { status: 'pending', attempts: 0 })
      await token.mint(payer, 1n)
      at += 60_000
      await chain.until('esc_1', ({ status }) => status === 'confirmed')
    })

    it('signs nothing for a node of another chain', async () => {
      const chain = gateway({ chainId: CHAIN_ID + 1 })
      chain.start()
      await chain.owe('esc_1', newRecipient(), CENT)
      await chain.until('esc_1', ({ error }) => error?.includes(`on chain ${CHAIN_ID}, not ${CHAIN_ID + 1}`) ?? false)
      assert.deepEqual(await store.db.selectFrom('chain_transactions').selectAll().execute(), [])
      assert.equal((await chain.settlements.states(['esc_1'])).get('esc_1')?.status, 'pending')
    })

    it('never pays twice with two gateways at work', async () => {
      const [one, other] = [gateway(), gateway()]
      one.start()
      other.start()
      const recipients = Array.from({ length: 24 }, newRecipient)
      await Promise.all(recipients.map((to, i) => (i % 2 ? one : other).owe(`esc_${i}`, to, CENT)))
      for (const [i] of recipients.entries()) await one.until(`esc_${i}`, ({ status }) => status === 'confirmed')
      for (const to of recipients) assert.equal(await token.balanceOf(to), 10_000n)
      assert.equal(await nonceOf(), recipients.length)
      assert.equal(one.confirmed.length + other.confirmed.length, recipients.length)
      assert.deepEqual([...one.errors, ...other.errors], [])
    })

    it('follows what was signed before the key was changed, and pays nothing of it twice', async () => {
      await token.mint(createSigner(KEYS[1]).address, FUNDS)
      await holdBlocks(anvil)
      const before = gateway()
      before.start()
      const [mined, dropped] = [newRecipient(), newRecipient()]
      await before.owe('esc_1', mined, CENT)
      await before.owe('esc_2', dropped, CENT)
      for (const id of ['esc_1', 'esc_2']) await before.until(id, ({ status }) => status === 'submitted')
      await before.stop()
      assert.deepEqual(await before.unkeyed(), [])
      const since = gateway({ wallet: { private_key: KEYS[1] }, settlement: { stuck_after_seconds: 1 } })
      assert.deepEqual(await since.unkeyed(), [{ address: payer, payments: 2, usd: 0.02 }])
      await assert.rejects(checkChains(since), { code: 'config_invalid', message: new RegExp(`account ${payer}`) })
      since.start()
      for (const id of ['esc_1', 'esc_2']) await since.until(id, ({ error }) => error?.includes(payer) ?? false)
      await rpc(anvil.url, 'anvil_dropAllTransactions', [])
      await releaseBlocks(anvil)
      for (const id of ['esc_1', 'esc_2'])
        await since.until(id, ({ status, attempts }) => status === 'confirmed' && attempts === 1)
      assert.equal(await token.balanceOf(mined), 10_000n)
      assert.equal(await token.balanceOf(dropped), 10_000n)
      assert.deepEqual(await since.unkeyed(), [])
    })

    it('gives every transaction a number of its own, whatever it is for', async () => {
      const chain = gateway()
      chain.start()
      const { network, privateKey } = chain.settlementChain() ?? assert.fail('it pays on a chain')
      const account = await chain.account(network, privateKey)
      const spend = (i: number) =>
        account.send({
          purpose: `payment:${i}`,
          to: token.address as `0x${string}`,
          data: transferAll(newRecipient(), 1n),
        })
      const sent = await Promise.all([
        ...Array.from({ length: 8 }, (_, i) => spend(i)),
        ...Array.from({ length: 8 }, (_, i) => chain.owe(`esc_${i}`, newRecipient(), CENT)),
      ])
      for (let i = 0; i < 8; i++) await chain.until(`esc_${i}`, ({ status }) => status === 'confirmed')
      for (const one of sent.slice(0, 8))
        assert.equal((await account.mined(one?.nonce ?? -1, { pollMs: 10, timeoutMs: 5000 }))?.status, 'success')
      assert.equal(await nonceOf(), 16)
      await mine()
      await until(async () => !(await account.transactions.anyOpen()))
    })

    it('looks after a payment of the same account until it is as deep as payments ask for', async () => {
      await holdBlocks(anvil)
      const chain = gateway({ confirmations: 1, paymentConfirmations: 3 })
      chain.start()
      const { network, privateKey } = chain.settlementChain() ?? assert.fail('it pays on a chain')
      const account = await chain.account(network, privateKey)
      const recipient = newRecipient()
      const sent = await account.send({
        purpose: 'payment:1',
        to: token.address as `0x${string}`,
        data: transferAll(recipient, 1n),
      })
      const [hash = ''] = sent?.hashes ?? []
      await chain.owe('esc_1', newRecipient(), CENT)
      await chain.until('esc_1', ({ status }) => status === 'submitted')
      const isKnown = async (one = '') => (await rpc(anvil.url, 'eth_getTransactionByHash', [one])) !== null
      await until(async () => isKnown((await hashesOf(1))[0]))
      await mine()
      await chain.until('esc_1', ({ status }) => status === 'confirmed')
      assert.equal((await account.transactions.find(0))?.status, 'sent')
      await rpc(anvil.url, 'anvil_reorg', [1, []])
      assert.equal(await token.balanceOf(recipient), 0n)
      await until(() => isKnown(hash))
      await mine(3)
      await until(async () => (await account.transactions.find(0))?.status === 'final')
      assert.equal(await token.balanceOf(recipient), 1n)
    })
  })
}

const transferAll = (to: string, units = FUNDS): `0x${string}` =>
  `0xa9059cbb${to.slice(2).padStart(64, '0')}${units.toString(16).padStart(64, '0')}`

/** Time for a few rounds in which nothing may happen. */
const rounds = () => new Promise((resolve) => setTimeout(resolve, 8 * POLL_MS))

async function blockNoted({ db }: Store): Promise<boolean> {
  const [row] = await db.selectFrom('settlements').select('block_number').execute()
  return (row?.block_number ?? null) !== null
}
