import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openStore } from '../../src/store/open-store.ts'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'
import { until } from '../doubles/until.ts'
import type { RatesCommand, RatesReply } from './rates-caller.ts'

type Command = RatesCommand extends infer Each ? (Each extends unknown ? Omit<Each, 'id'> : never) : never

/** A process with a rate limiter. */
interface Caller {
  ask(command: Command): Promise<RatesReply>
  kill(signal: NodeJS.Signals): void
  stop(): Promise<void>
}

const PROCESSES = 4
const MINUTE_MS = 60_000
const LEASE_MS = 45_000
const folder = mkdtempSync(join(tmpdir(), 'gazeway-rates-'))
const program = bundledProgram(fileURLToPath(new URL('rates-caller.ts', import.meta.url)))
const running = new Set<Caller>()
after(() => {
  for (const caller of running) caller.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

function start(url: string, { windowMs = MINUTE_MS, leaseMs = LEASE_MS } = {}): Caller {
  const child = spawn(process.execPath, [program, url, `${windowMs}`, `${leaseMs}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const waiting = new Map<number, (reply: RatesReply) => void>()
  let asked = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const reply = JSON.parse(line) as RatesReply
    waiting.get(reply.id)?.(reply)
  })
  const caller: Caller = {
    ask(command) {
      const id = ++asked
      child.stdin.write(`${JSON.stringify({ ...command, id })}\n`)
      return new Promise((resolve) => waiting.set(id, resolve))
    },
    kill: (signal) => void child.kill(signal),
    async stop() {
      child.stdin.end()
      await exit
      running.delete(caller)
    },
  }
  running.add(caller)
  return caller
}

let keys = 0
/** Limits of a new key. */
const limits = (of: Partial<RatesCommand['limits']>): RatesCommand['limits'] => ({
  id: `key_${++keys}`,
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrent: null,
  ...of,
})

/** The most calls that began within any so many milliseconds. */
function mostWithin(times: readonly number[], ms: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.max(...sorted.map((from, i) => sorted.filter((at, j) => j >= i && at - from < ms).length))
}

const POSTGRES = 'PostgreSQL'
for (const engine of ['SQLite', POSTGRES])
  describe(`the rate limits of a key over four processes on ${engine}`, () => {
    let postgres: PostgresServer | undefined
    let url: string
    let callers: [Caller, ...Caller[]]
    const each = (command: Command) => Promise.all(callers.map((caller) => caller.ask(command)))
    const began = (replies: readonly RatesReply[]) => replies.flatMap((reply) => reply.began)

    before(async () => {
      if (engine === POSTGRES) postgres = await startPostgres()
      url = (await postgres?.databaseWithTables()) ?? `sqlite:${join(folder, 'store.db')}`
      await (await openStore(url)).close()
      callers = Array.from({ length: PROCESSES }, () => start(url)) as typeof callers
    })
    after(async () => {
      await Promise.all([...running].map((caller) => caller.stop()))
      await postgres?.remove()
    })

    it('admit in a burst as many requests as one process would', async () => {
      for (const [limit, calls] of [
        [10, 40],
        [1000, 700],
      ] as const) {
        const replies = await each({ do: 'burst', limits: limits({ requestsPerMinute: limit }), calls })
        const count = began(replies).length
        assert.ok(count <= limit && count >= 0.95 * limit, `${count} of ${limit}`)
        const [{ headers, refused }] = replies as [RatesReply]
        assert.ok(
          refused.every((seconds) => seconds >= 59 && seconds <= 61),
          `${refused}`,
        )
        assert.equal(headers['x-ratelimit-limit-requests'], `${limit}`)
      }
    })

    it('serve one client the whole limit, whichever processes it asks', async () => {
      const alone = limits({ requestsPerMinute: 1000 })
      assert.equal((await callers[0].ask({ do: 'burst', limits: alone, calls: 1000 })).began.length, 1000)
      const spread = limits({ requestsPerMinute: 50 })
      for (let i = 0; i < 50; i++) {
        const reply = await (callers[i % PROCESSES] as Caller).ask({ do: 'burst', limits: spread, calls: 1 })
        assert.equal(reply.headers['x-ratelimit-remaining-requests'], `${49 - i}`)
      }
      assert.equal((await callers[0].ask({ do: 'burst', limits: spread, calls: 1 })).began.length, 0)
    })

    it('count tokens from their admission, and what was used once it is known', async () => {
      const LIMIT = 10_000
      const tokens = { prompt: 10, answer: 1000 }
      const replies = await each({
        do: 'drain',
        limits: limits({ tokensPerMinute: LIMIT }),
        tokens,
        workers: 25,
        used: 100,
      })
      const used = 100 * began(replies).length
      assert.ok(used <= 1.01 * LIMIT && used >= 0.95 * LIMIT, `${used} tokens of ${LIMIT}`)
    })

    it('slide: no window has more, also at the border of two', { timeout: 30_000 }, async () => {
      const windowMs = 1500
      const LIMIT = 40
      const sliding = Array.from({ length: PROCESSES }, () => start(url, { windowMs }))
      const key = limits({ requestsPerMinute: LIMIT })
      const times: number[] = []
      const first = () => Math.min(...times)
      while (times.length === 0 || Math.max(...times) - first() < 2 * windowMs)
        times.push(...began(await Promise.all(sliding.map((one) => one.ask({ do: 'burst', limits: key, calls: 8 })))))
      const most = mostWithin(times, windowMs * 0.9)
      assert.ok(most <= LIMIT, `${most} of ${LIMIT}`)
      const inTwo = times.filter((at) => at - first() < 1.9 * windowMs).length
      assert.ok(inTwo >= 0.95 * 2 * LIMIT, `${inTwo} in two windows`)
      await Promise.all(sliding.map((one) => one.stop()))
    })

    it('refuse a steady client that keeps to them almost nothing', { timeout: 30_000 }, async () => {
      const windowMs = 2500
      const LIMIT = 100
      const steady = Array.from({ length: PROCESSES }, () => start(url, { windowMs }))
      const key = limits({ requestsPerMinute: LIMIT })
      await Promise.all(steady.map((one) => one.ask({ do: 'end', limits: key })))
      const replies: Promise<RatesReply>[] = []
      const from = performance.now()
      for (let i = 0; i < 1.25 * LIMIT; i++) {
        // The client keeps its own time.
        await delay(from + (i * windowMs) / LIMIT - performance.now())
        replies.push((steady[i % PROCESSES] as Caller).ask({ do: 'burst', limits: key, calls: 1 }))
      }
      const served = began(await Promise.all(replies)).length
      assert.ok(served >= 0.95 * replies.length, `${served} of ${replies.length}`)
      await Promise.all(steady.map((one) => one.stop()))
    })

    it('hold for a process that starts again', async () => {
      const key = limits({ requestsPerMinute: 5 })
      const before = start(url)
      assert.equal((await before.ask({ do: 'burst', limits: key, calls: 4 })).began.length, 4)
      await before.stop()
      const next = start(url)
      const reply = await next.ask({ do: 'burst', limits: key, calls: 4 })
      assert.deepEqual([reply.began.length, reply.refused.length], [1, 3])
      await next.stop()
    })

    it('let one call at a time follow another at once, on any process', async () => {
      const key = limits({ concurrent: 1 })
      for (let i = 0; i < 20; i++) {
        const caller = callers[i % PROCESSES] as Caller
        const reply = await caller.ask({ do: 'begin', limits: key })
        assert.deepEqual(reply.refused, [])
        void caller.ask({ do: 'end', limits: key })
      }
    })

    it('give the places of a process that is killed or stopped back, once its lease has ended', async () => {
      const leaseMs = 1000
      async function endBy(signal: NodeJS.Signals): Promise<void> {
        const key = limits({ concurrent: 2 })
        const [ending, living] = [start(url, { leaseMs }), start(url, { leaseMs })]
        for (let i = 0; i < 2; i++) assert.equal((await ending.ask({ do: 'begin', limits: key })).began.length, 1)
        const from = performance.now()
        // Longer than its lease: a process that lives keeps its places.
        await until(async () => {
          const { began, message } = await living.ask({ do: 'begin', limits: key })
          assert.deepEqual(began, [])
          assert.match(message, /may make 2 calls at a time/)
          return performance.now() - from > leaseMs
        })
        ending.kill(signal)
        // Stopped in the middle of a write, it keeps the store locked: it goes on for a moment, until it is stopped elsewhere.
        const elsewhere = setInterval(() => {
          ending.kill('SIGCONT')
          setTimeout(() => ending.kill(signal), 20)
        }, 4 * leaseMs)
        try {
          await until(async () => (await living.ask({ do: 'begin', limits: key })).began.length === 1, { seconds: 30 })
        } finally {
          clearInterval(elsewhere)
          ending.kill('SIGKILL')
          running.delete(ending)
        }
        await living.stop()
      }
      await Promise.all([endBy('SIGKILL'), endBy('SIGSTOP')])
    })
  })
