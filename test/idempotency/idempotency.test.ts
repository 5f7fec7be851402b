import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { setInterval } from 'node:timers/promises'
import fc from 'fast-check'
import { CODES, type ErrorCode, GazewayError } from '../../src/errors.ts'
import { createIdempotency, type Idempotency, type Reply, type WorkReply } from '../../src/idempotency/idempotency.ts'
import type { Store } from '../../src/store/store.ts'
import { startPeer } from '../identity/process.ts'
import { newFolder, storeIn } from '../identity/store.ts'

const REQUEST = { scope: 'key_1', key: 'a', route: 'POST /api/tasks', body: '{"title":"x"}' }
const MADE: Reply = { status: 201, headers: { location: '/api/tasks/1' }, body: '{"id":"task_1"}' }

describe('idempotency', () => {
  let folder: string
  let store: Store
  let clock: Date
  let faults: unknown[]
  let idempotency: Idempotency
  let done: number

  const open = (more: { now?: () => Date; deadlineMs?: number } = {}) =>
    createIdempotency({ store, now: () => clock, onError: (error) => faults.push(error), ...more })
  const answering = (reply: WorkReply) => async () => {
    done++
    return reply
  }
  const later = (ms: number) => {
    clock = new Date(clock.getTime() + ms)
  }

  beforeEach(async () => {
    folder = newFolder()
    store = await storeIn(folder)
    clock = new Date('2026-11-21T07:05:00.000Z')
    faults = []
    done = 0
    idempotency = open()
  })

  it('gives the first reply again, without the work', async () => {
    assert.deepEqual(await idempotency.run(REQUEST, answering(MADE)), { reply: MADE, replayed: false })
    const bytes = { ...REQUEST, body: Buffer.from(REQUEST.body) }
    assert.deepEqual(await idempotency.run(bytes, answering(MADE)), { reply: MADE, replayed: true })
    assert.deepEqual(await open().run(REQUEST, answering(MADE)), { reply: MADE, replayed: true })
    assert.equal(done, 1)
  })

  it('gives back any reply byte for byte', async () => {
    let key = 0
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.integer({ min: 200, max: 401 }), async (body, status) => {
        const request = { ...REQUEST, key: String(key++) }
        const reply = { status, headers: {}, body }
        await idempotency.run(request, answering(reply))
        assert.deepEqual(await idempotency.run(request, answering(MADE)), { reply, replayed: true })
      }),
      { numRuns: 40 },
    )
  })

  it('refuses another request under the same key, and knows callers apart', async () => {
    await idempotency.run(REQUEST, answering(MADE))
    for (const other of [
      { ...REQUEST, body: '{"title":"y"}' },
      { ...REQUEST, body: '' },
      { ...REQUEST, route: 'POST /api/swarms' },
    ])
      await assert.rejects(idempotency.run(other, answering(MADE)), {
        code: 'idempotency_key_reused',
        status: 422,
        param: 'idempotency-key',
      })
    assert.equal((await idempotency.run({ ...REQUEST, scope: 'key_2' }, answering(MADE))).replayed, false)
    assert.equal((await idempotency.run({ ...REQUEST, key: 'b' }, answering(MADE))).replayed, false)
    assert.equal(done, 3)
  })

  it('works once for requests that arrive together', async () => {
    let finish = (_: Reply) => {}
    const reply = new Promise<Reply>((resolve) => {
      finish = resolve
    })
    const first = idempotency.run(REQUEST, () => {
      done++
      return reply
    })
    const others = Array.from({ length: 9 }, () =>
      assert.rejects(open().run(REQUEST, answering(MADE)), {
        code: 'idempotency_in_flight',
        status: 409,
        retryAfterSeconds: 1,
      }),
    )
    await Promise.all(others)
    finish(MADE)
    assert.equal((await first).replayed, false)
    assert.equal(done, 1)
    assert.equal((await idempotency.run(REQUEST, answering(MADE))).replayed, true)
  })

  it('keeps a refusal, returned or thrown', async () => {
    const refused = { status: 404, headers: {}, body: '{"error":{}}' }
    await idempotency.run(REQUEST, answering(refused))
    assert.deepEqual(await idempotency.run(REQUEST, answering(MADE)), { reply: refused, replayed: true })

    const request = { ...REQUEST, key: 'b', requestId: 'req_1' }
    const invalid = new GazewayError('validation_failed', 'It is no version.', { param: 'if_version' })
    invalid.callId = 'call_1'
    await assert.rejects(
      idempotency.run(request, () => Promise.reject(invalid)),
      invalid,
    )
    const { reply, replayed } = await idempotency.run({ ...request, requestId: 'req_2' }, answering(MADE))
    assert.deepEqual([reply.status, replayed, done], [422, true, 1])
    assert.deepEqual(reply.headers, { 'x-gazeway-call-id': 'call_1' })
    const { error } = JSON.parse(reply.body)
    assert.deepEqual(
      [error.code, error.message, error.param, error.request_id],
      ['validation_failed', 'It is no version.', 'if_version', 'req_1'],
    )
  })

  it('keeps nothing that may go better the next time', async () => {
    const failures = [
      ...[500, 502, 503, 504, 402, 408, 425, 429, 499].map((status) => answering({ status, body: '' })),
      answering({ status: 409, body: '', isTransient: true }),
    ]
    const thrown = [
      new Error('a bug'),
      new GazewayError('upstream_timeout', 'x'),
      new GazewayError('rate_limited', 'x'),
      new GazewayError('session_busy', 'x', { retryAfterSeconds: 5 }),
      new GazewayError('idempotency_in_flight', 'x', { retryAfterSeconds: 1 }),
      new GazewayError('idempotency_key_reused', 'x'),
      new GazewayError('forbidden', 'x'),
      new GazewayError('gaze_verification_failed', 'x'),
      new GazewayError('not_found', 'x'),
      new GazewayError('conflict', 'x'),
      new GazewayError('invalid_transition', 'x'),
      new GazewayError('task_not_completed', 'x'),
      new GazewayError('version_conflict', 'x'),
      new GazewayError('session_exists', 'x'),
    ]
    for (const work of [...failures, ...thrown.map((error) => () => Promise.reject(error))]) {
      await idempotency.run(REQUEST, work).catch((error) => assert.ok(thrown.includes(error)))
      assert.equal((await store.db.selectFrom('idempotency_keys').selectAll().execute()).length, 0)
    }
    assert.equal((await idempotency.run(REQUEST, answering(MADE))).replayed, false)
  })

  it('keeps an error when its code says so, unless its status may pass', async () => {
    for (const code of Object.keys(CODES) as ErrorCode[])
      for (const status of new Set([CODES[code].status, 400, 429, 500])) {
        const request = { ...REQUEST, key: `${code} ${status}` }
        const error = new GazewayError(code, 'x', { status })
        await assert.rejects(idempotency.run(request, () => Promise.reject(error)))
        const { replayed } = await idempotency.run(request, answering(MADE))
        const isFinal = status < 500 && ![402, 408, 429, 499].includes(status)
        assert.equal(replayed, CODES[code].kept && isFinal, request.key)
      }
  })

  it('does not repeat work whose reply is secret or too large to keep', async () => {
    const large = { status: 200, body: '"'.padEnd(1024 * 1024 - 1, 'é') }
    const secret = { status: 201, body: '{"key":"gzw_0123"}', secret: true }
    for (const [key, reply] of Object.entries({ large, secret })) {
      const request = { ...REQUEST, key }
      const first = await idempotency.run(request, answering(reply))
      assert.deepEqual(first.reply, { status: reply.status, body: reply.body })
      await assert.rejects(idempotency.run(request, answering(MADE)), {
        code: 'idempotency_reply_not_kept',
        status: 409,
        message: new RegExp(`answered with status ${reply.status}`),
      })
    }
    assert.equal(done, 2)
    assert.ok(!readFileSync(join(folder, 'gazeway.db')).includes('gzw_0123'))
  })

  it('remembers a key for 24 h, and clears old ones away in small steps', async () => {
    for (let i = 0; i < 30; i++) await idempotency.run({ ...REQUEST, key: `old-${i}` }, answering(MADE))
    const left = async () => (await store.db.selectFrom('idempotency_keys').select('key').execute()).length
    later(86_400_000 - 1)
    assert.equal((await idempotency.run({ ...REQUEST, key: 'old-0' }, answering(MADE))).replayed, true)
    assert.equal(await left(), 30)
    later(1)
    assert.equal((await idempotency.run({ ...REQUEST, key: 'old-0', body: 'new' }, answering(MADE))).replayed, false)
    assert.equal(await left(), 22)
    assert.equal(await idempotency.sweep(10), 10)
    assert.equal(await idempotency.sweep(1000), 11)
    assert.equal(await left(), 1)
    assert.equal((await idempotency.run({ ...REQUEST, key: 'old-0', body: 'new' }, answering(MADE))).replayed, true)
  })

  it('takes over from a process that died, after 60 s', async () => {
    const worker = startPeer('worker.ts', import.meta.url, [folder, 'a', 'hang'])
    assert.equal(await worker.line(), 'ready')
    assert.equal(await worker.ask('go'), 'working')
    clock = new Date()
    const request = { scope: 'key_1', key: 'a', route: 'POST /x', body: '{}' }
    await assert.rejects(idempotency.run(request, answering(MADE)), { code: 'idempotency_in_flight' })
    const died = once(worker.child, 'exit')
    worker.child.kill('SIGKILL')
    await died
    await assert.rejects(idempotency.run(request, answering(MADE)), { code: 'idempotency_in_flight' })
    later(61_000)
    await assert.rejects(idempotency.run({ ...request, body: '[]' }, answering(MADE)), {
      code: 'idempotency_key_reused',
    })
    assert.deepEqual(await idempotency.run(request, answering(MADE)), { reply: MADE, replayed: false })
    assert.equal((await idempotency.run(request, answering(MADE))).replayed, true)
  })

  it('does not take over from a process that is slow but alive', async () => {
    const slow = open({ now: () => new Date(), deadlineMs: 300 })
    let finish = (_: Reply) => {}
    const working = slow.run(
      REQUEST,
      () =>
        new Promise<Reply>((resolve) => {
          finish = resolve
        }),
    )
    const inFlightUntil = async () =>
      (await store.db.selectFrom('idempotency_keys').select('in_flight_until').executeTakeFirst())?.in_flight_until ??
      ''
    const seen = new Set<string>()
    for await (const _ of setInterval(20)) {
      seen.add(await inFlightUntil())
      if (seen.size > 5) break
    }
    await assert.rejects(slow.run(REQUEST, answering(MADE)), { code: 'idempotency_in_flight' })
    finish(MADE)
    assert.equal((await working).replayed, false)
    assert.equal((await slow.run(REQUEST, answering(MADE))).replayed, true)
  })

  it('keeps the reply of the attempt that took over, and gives it to the one that came back', async () => {
    const { reply, replayed } = await idempotency.run(REQUEST, async () => {
      const successor = open({ now: () => new Date(clock.getTime() + 60_000) })
      await successor.run(REQUEST, answering({ ...MADE, body: '"second"' }))
      return { ...MADE, body: '"first"' }
    })
    assert.deepEqual([reply.body, replayed], ['"second"', true])
    assert.equal((await idempotency.run(REQUEST, answering(MADE))).reply.body, '"second"')
  })

  it('works once for four processes', async () => {
    const workers = Array.from({ length: 4 }, () => startPeer('worker.ts', import.meta.url, [folder, 'b', 'append']))
    for (const worker of workers) assert.equal(await worker.line(), 'ready')
    const answers = await Promise.all(workers.map((worker) => worker.ask('go')))
    assert.equal(answers.filter((answer) => answer === 'done "made"').length, 1, answers.join())
    for (const answer of answers) assert.match(answer, /^(done "made"|replayed "made"|idempotency_in_flight)$/)
    assert.equal(readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n').length, 1)
  })

  it('gives the caller the reply even where it cannot be kept', async () => {
    const own = await storeIn(newFolder())
    const { run } = createIdempotency({ store: own, now: () => clock, onError: (error) => faults.push(error) })
    const { reply } = await run(REQUEST, async () => {
      await own.close()
      return MADE
    })
    assert.deepEqual(reply, MADE)
    assert.equal(faults.length, 1)
  })

  it('refuses what is no key', async () => {
    for (const key of ['', 'é', 'a\n', 'x'.repeat(256)])
      await assert.rejects(idempotency.run({ ...REQUEST, key }, answering(MADE)), {
        code: 'validation_failed',
        param: 'idempotency-key',
      })
    assert.equal(done, 0)
  })
})
