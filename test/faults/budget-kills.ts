import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import { type Micros, toMicros } from '../../src/text/money.ts'
import { LEASE_MS } from '../../src/wallet/budget/allowances.ts'
import { releasePresumed, sweepAllowances } from '../../src/wallet/budget/presumed-spending.ts'
import { spendOf } from '../../src/wallet/budget/spending.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { until } from '../doubles/until.ts'
import { startUpstream } from '../doubles/upstream.ts'
import { withFlatPrices } from '../e2e/flat-prices.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from '../e2e/gateway-process.ts'
import { newPlace, PATIENCE_MS } from '../e2e/server.ts'
import { absorbedOf, balanceOf, maxCostOf, receiptsOf, usedBy } from './budget-books.ts'
import { type Addresses, makeCall, send } from './budget-calls.ts'
import { answer, CREDIT_USD, KEYS, PROCESSES, plans, type Step } from './budget-plan.ts'

const ADMIN = 'fixed-admin-key-0123456789'
/** Steps taken at a time. */
const AT_ONCE = 8

/** A process, and the name under which it reserves. */
interface Running extends Addresses {
  gateway: GatewayProcess
  holder: string
}

interface Caller {
  id: string
  key: string
}

/** Kills one of three gateways on one PostgreSQL database while all are called over HTTP, so many times. */
export function budgetKills(kills: number): void {
  it(`exceeds no budget and loses no charge over ${kills} kills of one of three gateways`, {
    timeout: 120_000 + kills * 30_000,
  }, async (t) => {
    const postgres = await startPostgres()
    t.after(() => postgres.remove())
    const url = await postgres.databaseWithTables()
    const upstream = await startUpstream()
    upstream.on('/chat/completions', answer)
    const store = await openStore(url)
    const places = Array.from({ length: PROCESSES }, newPlace)
    // What a killed process had reserved is not waited for.
    for (const place of places) {
      mkdirSync(place.data)
      writeFileSync(join(place.data, 'config.json'), JSON.stringify({ wallet: { wait_ms: 500 } }))
      withFlatPrices(place)
    }
    /** Name under which PostgreSQL knows the process of a place. */
    const nameOf = (place: (typeof places)[number]) => `gateway-${places.indexOf(place)}`
    const processes = await Promise.all(places.map(start))
    const ended = { answered: 0, refused: 0, cut: 0, failed: 0, gone: 0 }
    t.after(async () => {
      await Promise.all(processes.map(({ gateway }) => gateway.stop()))
      await store.close()
      await upstream.close()
    })

    async function start(place: (typeof places)[number]): Promise<Running> {
      const named = new URL(url)
      named.searchParams.set('application_name', nameOf(place))
      const gateway = await startGatewayProcess(place, {
        args: ['--upstream', upstream.url, '--store', named.href, '--platform', '--platform-port', '0'],
        env: { GAZEWAY_API_KEY: ADMIN },
      })
      const addresses = { url: gateway.url, platform: await platformOf(gateway) }
      const probe = await newKey(addresses, { billing: 'recorded', limits: { budgets: [{ usd: 1, per: 'total' }] } })
      const leaving = new AbortController()
      const content = JSON.stringify({ words: 1, usage: 'none', end: 'hang' })
      const body = { model: 'm', messages: [{ role: 'user', content }], stream: true, max_tokens: 10 }
      await send(`${gateway.url}/v1/chat/completions`, 'POST', probe.key, body, leaving.signal)
      const held = store.db.selectFrom('allowances').select('holder').where('key_id', '=', probe.id)
      const { holder } = await held.executeTakeFirstOrThrow()
      leaving.abort()
      return { gateway, ...addresses, holder }
    }

    async function newKey({ platform }: Addresses, terms: object): Promise<Caller> {
      const body = { name: 'caller', scopes: ['inference', 'platform'], ...terms }
      return made(await send(`${platform}/api/keys`, 'POST', ADMIN, body))
    }

    async function run(steps: readonly Step[]): Promise<void> {
      const [first] = processes as [Running]
      const group: { id: string } = await made(
        await send(`${first.platform}/api/groups`, 'POST', ADMIN, {
          name: `group ${Math.random()}`,
          budgets: [{ usd: 2, per: 'total' }],
        }),
      )
      const callers = await Promise.all(KEYS.map((terms) => newKey(first, { ...terms, group: group.id })))
      const owners = [group.id, ...callers.map(({ id }) => id)]
      /** The most that each may have spent and reserved, since its budget was last changed. */
      const most = new Map<string, Micros>()
      for (const owner of owners) most.set(owner, await maxCostOf(store, owner))
      /** Charges that replies reported. */
      const told = new Map<string, Micros | undefined>()
      let turn: Promise<unknown> = Promise.resolve()
      /** Changes and comparisons of budgets come one after the other. */
      function inTurn(work: () => Promise<void>): Promise<void> {
        const done = turn.then(work)
        turn = done
        return done
      }

      async function compare(): Promise<void> {
        for (const [owner, used] of await usedBy(store, owners))
          assert.ok(used <= (most.get(owner) as Micros), `${owner} has used ${used} of ${most.get(owner)}`)
        const balance = await balanceOf(store, `caller:${callers[0]?.id}`)
        assert.ok(balance >= -CREDIT_USD * 1e6, `the key with credit is at ${balance}`)
      }

      async function changeBudget(path: string, owner: string, usd: number, at: Running): Promise<void> {
        const budgets = [{ usd, per: 'total' }]
        most.set(owner, Math.max(most.get(owner) as Micros, toMicros(usd) as Micros))
        const body = owner === group.id ? { budgets } : { limits: { budgets } }
        const reply = await send(`${at.platform}${path}/${owner}`, 'PATCH', ADMIN, body).catch(() => null)
        await reply?.text()
        assert.ok(reply === null || reply.ok, `${reply?.status}`)
        if (reply !== null) most.set(owner, await maxCostOf(store, owner))
      }

      async function take(step: Step): Promise<void> {
        const at = processes[step.by] as Running
        if (step.do === 'kill') return at.gateway.kill('SIGKILL')
        const caller = callers[step.key] as Caller
        if (step.do === 'call') {
          const { as, id, cost } = await makeCall(at, caller.key, step)
          ended[as] += 1
          if (id !== undefined && KEYS[step.key]?.billing !== 'recorded') told.set(id, cost)
        } else if (step.do === 'move') {
          const body = { group: step.into ? group.id : null }
          await send(`${at.platform}/api/keys/${caller.id}`, 'PATCH', ADMIN, body).then(
            (reply) => reply.text(),
            () => {},
          )
        } else if (step.of === 'key') await inTurn(() => changeBudget('/api/keys', caller.id, step.usd, at))
        else await inTurn(() => changeBudget('/api/groups', group.id, step.usd, at))
      }

      const left = [...steps]
      async function takeAll(): Promise<void> {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          await take(next)
          await inTurn(compare)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, takeAll))

      // Those that live settle what their clients have left, and give back what no call needs.
      const killed = steps.flatMap((step) => (step.do === 'kill' ? [step.by] : []))
      const living = processes.filter((_, i) => !killed.includes(i)).map(({ holder }) => holder)
      // Without the probes of the starts, whose answers never end.
      const held = store.db
        .selectFrom('allowances')
        .selectAll()
        .where('holder', 'in', living)
        .where('key_id', 'in', owners)
        .where('micros', '>', 0)
      for (const deadline = Date.now() + PATIENCE_MS; (await held.execute()).length > 0; await delay(20)) {
        if (Date.now() > deadline)
          assert.deepEqual(
            await held.execute(),
            [],
            `idle gateways give back what ${JSON.stringify(owners)} do not need`,
          )
        await compare()
      }
      for (const i of killed) {
        await (processes[i] as Running).gateway.exit
        await sessionsEnd(places[i] as (typeof places)[number])
      }
      await recover()
      await compare()
      await agree(callers, told)
      for (const i of killed) processes[i] = await start(places[i] as (typeof places)[number])
    }

    /** Waits until PostgreSQL has done what a killed process had sent it: its last statement commits after its end. */
    async function sessionsEnd(place: (typeof places)[number]): Promise<void> {
      const sessions = sql`select 1 from pg_stat_activity where application_name = ${nameOf(place)}`
      await until(async () => (await sessions.execute(store.db)).rows.length === 0, {
        what: `the sessions of ${nameOf(place)}`,
        seconds: PATIENCE_MS / 1000,
      })
    }

    /** Gives back what the killed had reserved, as the others do once its leases have ended. */
    async function recover(): Promise<void> {
      for (let left = 1; left > 0; ) left = await sweepAllowances(store, new Date(Date.now() + LEASE_MS), 100)
    }

    /** Compares receipts, ledger and spend, and what clients were told. */
    async function agree(callers: readonly Caller[], told: Map<string, Micros | undefined>): Promise<void> {
      for (const { id } of callers) await releasePresumed(store, id)
      assert.deepEqual(
        await store.db.selectFrom('allowances').selectAll().where('presumed_at', 'is', null).execute(),
        [],
      )
      for (const [i, { id }] of callers.entries()) {
        const receipts = await receiptsOf(store, id)
        const sum = [...receipts.values()].reduce((all, micros) => all + micros, 0)
        const spend = (await spendOf(store.db, [id], new Date())).get(id)?.total
        const isCharged = KEYS[i]?.billing !== 'recorded'
        if (isCharged) assert.equal(spend, sum + (await absorbedOf(store, id)))
        assert.equal(await balanceOf(store, `held:${id}`), 0)
        for (const [call, cost] of told) {
          if (!receipts.has(call)) continue
          assert.equal(cost, receipts.get(call), call)
          told.delete(call)
        }
        assert.equal((await balanceOf(store, `caller:${id}`)) + sum, 0)
      }
      assert.deepEqual([...told.keys()], [], 'answered, and not charged')
      assert.deepEqual((await verifyLedger(store)).faults, [])
      assert.deepEqual(await callFaults(store), [])
    }

    await fc.assert(fc.asyncProperty(plans, run), { numRuns: kills, endOnFailure: true })
    for (const as of ['answered', 'refused', 'gone'] as const) assert.ok(ended[as] > 0, `no call was ${as}`)
  })
}

async function made<Made>(reply: Response): Promise<Made> {
  const body = await reply.text()
  assert.equal(reply.status, 201, body)
  return JSON.parse(body)
}
