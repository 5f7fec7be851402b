import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { createSigner } from '../../src/chain/signer.ts'
import { openStore } from '../../src/store/open-store.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'
import { KEYS, startAnvil } from './anvil.ts'
import { rpc } from './rpc.ts'
import { chainOn, newRecipient } from './setup.ts'
import { deployToken } from './token.ts'

const CHAIN_ID = 31_337
const CENT = 10_000
/** The longest that a process works before it is killed, in milliseconds: about what a payment takes. */
const LONGEST_LIFE_MS = 120
/** Time between blocks, in milliseconds. */
const BLOCK_MS = 25
/** Every so many blocks the node forgets what it has not taken yet. */
const FORGETS_EVERY = 9

/**
 * Kills a process that pays settlements, so many times and at any moment, on a chain that also forgets transactions; each
 * recipient is paid once.
 */
export function settlementKills(kills: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-settlement-kills-'))
  after(() => rmSync(folder, { recursive: true }))

  it(`pays each recipient once, over ${kills} kills`, { timeout: 60_000 + kills * 5_000 }, async (t) => {
    const program = bundledProgram(join(import.meta.dirname, 'settlement-process.ts'))
    const anvil = await startAnvil({ chainId: CHAIN_ID })
    const token = await deployToken(anvil)
    await token.mint(createSigner(KEYS[0]).address, BigInt(kills * CENT))
    const storeUrl = `sqlite:${join(folder, 'store.db')}`
    const store = await openStore(storeUrl)
    const setup = { url: anvil.url, chainId: CHAIN_ID, token: token.address, confirmations: 2 }
    const chain = chainOn(store, setup)
    let child: ChildProcess | undefined
    await rpc(anvil.url, 'evm_setAutomine', [false])
    const blocks = makeBlocks(anvil.url)
    t.after(async () => {
      child?.kill('SIGKILL')
      await blocks.stop()
      await chain.stop()
      await store.close()
      await anvil.stop()
    })

    const recipients: string[] = []
    for (let i = 0; i < kills; i++) {
      child = spawn(process.execPath, [program, storeUrl, JSON.stringify(setup)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = once(child, 'exit')
      await once(child.stdout as NodeJS.ReadableStream, 'data')
      recipients.push(newRecipient())
      await chain.owe(`esc_${i}`, recipients[i] ?? '', CENT)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_LIFE_MS))
      child.kill('SIGKILL')
      await exited
    }
    const left = await store.db.selectFrom('settlements').select('id').where('status', '<>', 'confirmed').execute()
    assert.ok(left.length > 0, 'no kill came in the middle of a payment')

    chain.start()
    for (const i of recipients.keys()) await chain.until(`esc_${i}`, ({ status }) => status === 'confirmed')
    for (const recipient of recipients) assert.equal(await token.balanceOf(recipient), BigInt(CENT))
    const sent = await store.db.selectFrom('chain_transactions').selectAll().orderBy('nonce').execute()
    assert.deepEqual(
      sent.map(({ nonce, status }) => [nonce, status]),
      recipients.map((_, i) => [i, 'final']),
    )
    assert.equal(new Set(sent.map(({ purpose }) => purpose)).size, kills)
  })
}

/** Makes blocks one after the other, and now and then has the node forget what waits. */
function makeBlocks(url: string): { stop(): Promise<void> } {
  let stopped = false
  async function run(): Promise<void> {
    for (let block = 1; !stopped; block++) {
      await new Promise((resolve) => setTimeout(resolve, BLOCK_MS))
      if (block % FORGETS_EVERY === 0) await rpc(url, 'anvil_dropAllTransactions', [])
      await rpc(url, 'evm_mine', [])
    }
  }
  const running = run()
  return {
    async stop() {
      stopped = true
      await running
    },
  }
}
