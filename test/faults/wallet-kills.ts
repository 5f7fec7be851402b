import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { MICROS_PER_USD } from '../../src/text/money.ts'
import { sweepAllowances } from '../../src/wallet/budget/presumed-spending.ts'
import type { Receipt } from '../../src/wallet/receipts/receipt.ts'
import { completion, json, startUpstream } from '../doubles/upstream.ts'
import { by, newKey, ONE_CALL, walletOn } from '../wallet/setup.ts'
import { type WalletProcess, walletPrograms } from './wallet-process.ts'

/** Calls that a process makes before it is killed in the next one. */
const CALLS = 2
/** The longest that is waited after a moment, in milliseconds: about as long as the step that follows it takes. */
const LATER_MS = 8

/** Moments of the kill: the named step has ended, and the next one has begun. */
const MOMENTS = ['asked', 'reserving', 'answered'] as const
type Moment = (typeof MOMENTS)[number]

/** Kills processes that make metered calls, at each step of a call, so many times. */
export function walletKills(kills: number): void {
  const programs = walletPrograms()
  after(() => programs.remove())

  it(`leaves a receipt with its reply or a reservation, and nothing between, over ${kills} kills`, {
    timeout: 30_000 + kills * 10_000,
  }, async (t) => {
    const url = `sqlite:${join(programs.folder, 'kills', 'store.db')}`
    const store = await openStore(url)
    const upstream = await startUpstream()
    let victim: { process: WalletProcess; moment: Moment; calls: number } | undefined
    const kill = () => void victim?.process.child.kill('SIGKILL')
    const killSoon = () => void setTimeout(kill, Math.random() * LATER_MS)
    upstream.on('/chat/completions', async (reply, request) => {
      const due = victim !== undefined && ++victim.calls > CALLS
      if (due && victim?.moment === 'asked') return kill()
      await json(200, completion('Hello back'))(reply, request)
      if (due && victim?.moment === 'answered') killSoon()
    })
    const wallet = walletOn(store, upstream.url)
    const wallets = [wallet]
    t.after(async () => {
      for (const { settle } of wallets) await settle()
      await upstream.close()
      await store.close()
    })
    const caller = await newKey(store, { credit_limit_usd: 1_000 })

    const begun: string[] = []
    const receipts = new Map<string, Receipt>()
    for (let round = 0; round < kills; round++) {
      const moment = MOMENTS[round % MOMENTS.length] as Moment
      const process = programs.start('wallet-caller', [url, upstream.url, caller, `round${round}`])
      victim = { process, moment, calls: 0 }
      process.lines.on('line', (line) => {
        const { key, receipt } = JSON.parse(line) as { key: string; receipt?: Receipt }
        if (receipt) receipts.set(key, receipt)
        else begun.push(key)
        if (moment === 'reserving' && !receipt && (victim?.calls ?? 0) >= CALLS) killSoon()
      })
      assert.deepEqual(await process.ended, { code: null, complaints: '' })
    }

    const kept = await store.db.selectFrom('idempotency_keys').select('key').where('status', '=', 200).execute()
    const charged = new Set(kept.map(({ key }) => key))
    for (const key of receipts.keys()) assert.ok(charged.has(key), `${key} was answered and is not charged`)
    const held = await store.db.selectFrom('allowances').select('id').where('micros', '>', 0).execute()
    assert.ok(held.length > 0)

    const hourLater = () => new Date(Date.now() + 3_600_000)
    for (let left = 1; left > 0; ) left = await sweepAllowances(store, hourLater(), 100)
    const { available_usd, held_usd } = await wallet.balances(caller)
    assert.equal(held_usd, 0)
    assert.equal(Math.round(available_usd * MICROS_PER_USD), -80_045 * charged.size)
    assert.equal((await wallet.usage({ limit: 1 })).totals.calls, charged.size)
    const { faults, balances } = await wallet.verify()
    assert.deepEqual({ faults, held: balances.held }, { faults: [], held: 0 })

    victim = undefined
    // The attempts of the killed processes are over by then.
    const later = walletOn(store, upstream.url, { now: hourLater })
    wallets.push(later)
    const asked = upstream.received.length
    for (const key of begun) {
      const receipt = await later.meteredCall(ONE_CALL, by(caller, key))
      const known = receipts.get(key)
      if (known) assert.deepEqual(receipt, known)
    }
    assert.equal(upstream.received.length - asked, begun.length - charged.size)
    assert.equal((await wallet.usage({ limit: 1 })).totals.calls, begun.length)
  })
}
