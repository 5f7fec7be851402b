import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Attestation } from '../../src/gaze/attestation.ts'
import { StoredGaze } from '../../src/gaze/gaze.ts'
import { GazeRecord, type GazeTensor } from '../../src/gaze/tensor.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { fixationsOf, pageOf, readingOf } from '../gaze/reader.ts'
import { insertTask } from '../gaze/task-row.ts'
import { dies } from './dying.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

const EIGHT = [
  'gaze_data_storage',
  'gaze_data_retrieval',
  'gaze_pattern_analysis',
  'context_awareness',
  'ai_chat',
  'usage_analytics',
  'tempo_billing',
  'task_escrow',
]
const NOTHING = { available_usd: null, credit_limit_usd: null, budgets: null, requests_per_minute: null }

let platform: RunningPlatform
let other: string

before(async () => {
  platform = await startPlatform('sandbox', { withHttp: false })
  const made = await platform.gateway.keys.create({
    name: 'other',
    scopes: ['platform'],
    limits: { credit_limit_usd: 0 },
  })
  other = made.key
})

after(() => platform.close())

/** A person's reading of 112 fixations that has just ended. */
function justRead(): GazeTensor[] {
  const records = fixationsOf(readingOf(pageOf(1), 1, { seconds: 40 })).slice(0, 112)
  const last = records.at(-1) as GazeTensor
  const late = Date.now() - (Date.parse(last.at) + last.dwell_ms)
  return records.map((record) => ({ ...record, at: new Date(Date.parse(record.at) + late).toISOString() }))
}

async function json(reply: Response): Promise<Record<string, unknown>> {
  return (await reply.json()) as Record<string, unknown>
}

async function verify(body: object, key = platform.key) {
  const reply = await ask(platform, 'POST', '/api/verify-session', { body, key })
  assert.equal(reply.status, 200, 'a question in order is answered')
  return json(reply)
}

describe('gaze on the platform', () => {
  it('stores a recording, attests it, and gives it back page by page', async () => {
    await insertTask(platform.gateway.store, 'task_r')
    const records = justRead()
    const reply = await ask(platform, 'POST', '/api/gaze/store', {
      body: { session_id: 'reading', task_id: 'task_r', records },
    })
    assert.equal(reply.status, 201)
    const stored = StoredGaze.parse(await reply.json())
    assert.deepEqual([stored.session_id, stored.stored, stored.duplicates], ['reading', 112, 0])
    assert.deepEqual([stored.attestation.status, stored.attestation.task_id], ['passed', 'task_r'])

    const again = await ask(platform, 'POST', '/api/gaze/store', { body: { session_id: 'reading', records } })
    assert.equal((await json(again)).duplicates, 112)

    const first = await json(await ask(platform, 'GET', '/api/gaze/history?session_id=reading&limit=100'))
    assert.equal(first.total, 112)
    const items = first.items as unknown[]
    assert.equal(GazeRecord.parse(items[0]).seq, 112)
    const rest = await json(await ask(platform, 'GET', `/api/gaze/history?limit=100&cursor=${first.next_cursor}`))
    assert.deepEqual([(rest.items as unknown[]).length, rest.next_cursor], [12, null])
    const middle = records[56]?.at
    const since = await json(await ask(platform, 'GET', `/api/gaze/history?from=${middle}&source=eye_tracker&limit=1`))
    assert.equal(since.total, 56)
    const elsewhere = await json(await ask(platform, 'GET', `/api/gaze/history?to=${middle}&path=src/a.ts`))
    assert.equal(elsewhere.total, 0)
  })

  it("shows the attention score of a session, and of a task's session", async () => {
    for (const query of ['session_id=reading', 'task_id=task_r', 'session_id=reading&task_id=task_r']) {
      const reply = await ask(platform, 'GET', `/api/attestation/status?${query}`)
      assert.equal(reply.status, 200)
      const attestation = Attestation.parse(await reply.json())
      assert.deepEqual([attestation.session_id, attestation.status, attestation.progress], ['reading', 'passed', 1])
      assert.equal(attestation.components.plausibility, 1)
    }
    const few = { session_id: 'few', records: justRead().slice(0, 5) }
    await ask(platform, 'POST', '/api/gaze/store', { body: few, key: other })
    const collecting = await json(await ask(platform, 'GET', '/api/attestation/status?session_id=few', { key: other }))
    assert.deepEqual([collecting.status, collecting.progress, collecting.records_needed], ['collecting', 0.25, 20])
    assert.match(String(collecting.reasons), /^5 of the 20 records/)
  })

  it('keeps what a key stored to it, and shows all to an admin', async () => {
    const history = async (key: string) => (await json(await ask(platform, 'GET', '/api/gaze/history', { key }))).total
    assert.deepEqual([await history(platform.key), await history(other), await history(platform.admin)], [112, 5, 117])
    const status = await ask(platform, 'GET', '/api/attestation/status?session_id=reading', { key: other })
    assert.equal(status.status, 404)
    const taken = { session_id: 'reading', records: justRead().slice(0, 1) }
    const added = await ask(platform, 'POST', '/api/gaze/store', { body: taken, key: other })
    assert.equal(added.status, 409)
    assert.equal((await errorOf(added)).param, 'session_id')
  })

  it('lists sessions and analyses them, each key its own', async () => {
    const ids = async (key: string) => {
      const { items } = await json(await ask(platform, 'GET', '/api/gaze/sessions', { key }))
      return (items as Array<{ session_id: string }>).map((item) => item.session_id)
    }
    assert.deepEqual([await ids(other), await ids(platform.admin)], [['few'], ['few', 'reading']])
    const { items } = await json(await ask(platform, 'GET', '/api/gaze/sessions?task_id=task_r'))
    assert.equal((items as Array<{ attestation: { status: string } }>)[0]?.attestation.status, 'passed')

    const analyze = (body: object, key = platform.key) => ask(platform, 'POST', '/api/gaze/analyze', { body, key })
    const told = await json(await analyze({ session_id: 'reading', question: 'Where?' }))
    assert.equal((told.metrics as { records: number }).records, 112)
    assert.match(String(told.narrative), /sandbox/)
    assert.match(String(told.call_id), /^call_/)
    const figures = await json(await analyze({ narrate: false }, other))
    assert.deepEqual([(figures.metrics as { records: number }).records, figures.narrative], [5, null])
    const hidden = await analyze({ session_id: 'reading' }, other)
    assert.deepEqual([hidden.status, (await errorOf(hidden)).code], [404, 'not_found'])
  })

  it("shows the attestation for a task to the task's creator", async () => {
    const create = { title: 'Read it', gaze_required: true }
    const made = await ask(platform, 'POST', '/api/tasks', { body: create, key: other })
    assert.equal(made.status, 201)
    const { id } = await json(made)
    await ask(platform, 'POST', '/api/gaze/store', { body: { task_id: id, records: justRead().slice(0, 25) } })
    const status = async (key: string) =>
      (await ask(platform, 'GET', `/api/attestation/status?task_id=${id}`, { key })).status
    assert.deepEqual([await status(other), await status(platform.key)], [200, 200])
    const { key: stranger } = await platform.gateway.keys.create({ name: 'stranger', scopes: ['platform'] })
    assert.equal(await status(stranger), 404)
  })

  it('shows them the claimant’s before what another key stored for the task later, and lists them all', async () => {
    const keyOf = async (name: string) => (await platform.gateway.keys.create({ name, scopes: ['platform'] })).key
    const [worker, tracker] = [await keyOf('worker'), await keyOf('tracker')]
    const { id } = await json(await ask(platform, 'POST', '/api/tasks', { body: { title: 'Read it' }, key: other }))
    const store = async (key: string, count: number) => {
      const body = { task_id: id, records: justRead().slice(0, count) }
      return String((await json(await ask(platform, 'POST', '/api/gaze/store', { body, key }))).session_id)
    }
    const shown = async (key = other) =>
      (await json(await ask(platform, 'GET', `/api/attestation/status?task_id=${id}`, { key }))).session_id
    await ask(platform, 'POST', `/api/tasks/${id}/claim`, { body: { agent: 'w' }, key: worker })
    const trackers = await store(tracker, 3)
    assert.equal(await shown(), trackers)
    const workers = await store(worker, 25)
    const late = await store(tracker, 1)
    assert.deepEqual([await shown(), await shown(platform.admin), await shown(tracker)], [workers, workers, late])

    const listed = async (key: string) => {
      const { items } = await json(await ask(platform, 'GET', `/api/gaze/sessions?task_id=${id}`, { key }))
      return (items as Array<{ session_id: string }>).map((item) => item.session_id)
    }
    assert.deepEqual([await listed(other), await listed(worker)], [[late, workers, trackers], [workers]])
  })

  it('takes a claim at the level of the task, or else of gaze.require as it is then', async () => {
    const taskOf = async (more: object) => {
      const body = { title: 'Read it', gaze_required: true, ...more }
      return String((await json(await ask(platform, 'POST', '/api/tasks', { body, key: other }))).id)
    }
    /** Claims with gaze since the task was made, ahead of the clock, in which every dwell takes as long. */
    const claim = async (id: string, dwell_ms: number) => {
      const since = Date.now() - Date.parse(justRead()[0]?.at as string)
      const records = justRead().map((record) => {
        return { ...record, dwell_ms, at: new Date(Date.parse(record.at) + since).toISOString() }
      })
      const stored = await ask(platform, 'POST', '/api/gaze/store', { body: { task_id: id, records } })
      const { attestation } = StoredGaze.parse(await stored.json())
      assert.deepEqual([attestation.status, attestation.level], ['failed', 'seen'])
      const body = { agent: 'w', attestation_id: attestation.id }
      return ask(platform, 'POST', `/api/tasks/${id}/claim`, { body })
    }
    const setRequired = (level: string | null) =>
      ask(platform, 'PATCH', '/api/config', { body: { 'gaze.require': level }, key: platform.admin })
    const [strict, open, lenient] = [
      await taskOf({ gaze_level: 'plausible' }),
      await taskOf({}),
      await taskOf({ gaze_level: 'seen' }),
    ]
    const refused = await claim(open, 400)
    assert.equal(refused.status, 403)
    assert.match((await errorOf(refused)).message, /reaches the level seen; plausible is needed/)
    assert.equal((await claim(lenient, 500)).status, 200)
    assert.equal((await setRequired('seen')).status, 200)
    assert.equal((await claim(open, 600)).status, 200)
    assert.equal((await claim(strict, 720)).status, 403)
    assert.equal((await setRequired('present')).status, 422)
    assert.equal((await setRequired(null)).status, 200)
  })

  it('stores once under an idempotency key, and refuses another body under it', async () => {
    const headers = { 'idempotency-key': 'gaze-1' }
    const body = { records: justRead().slice(0, 2) }
    const [first, second] = [
      await ask(platform, 'POST', '/api/gaze/store', { body, headers }),
      await ask(platform, 'POST', '/api/gaze/store', { body, headers }),
    ]
    assert.deepEqual([second.status, second.headers.get('idempotent-replayed')], [201, 'true'])
    assert.deepEqual(await json(second), await json(first))
    const reused = await ask(platform, 'POST', '/api/gaze/store', { body: { ...body, task_id: 't' }, headers })
    assert.equal((await errorOf(reused)).code, 'idempotency_key_reused')
  })

  it('refuses invalid input, and names the field', async () => {
    const [record] = fixationsOf(readingOf(pageOf(1), 1))
    const bad: Array<[unknown, string]> = [
      [{}, 'records'],
      [{ records: [] }, 'records'],
      [{ records: [{ ...record, confidence: 2 }] }, 'records.0.confidence'],
      [{ records: [{ ...record, at: 'yesterday' }] }, 'records.0.at'],
      [{ records: [record], owner: 'me' }, 'owner'],
    ]
    for (const [body, param] of bad) {
      const reply = await ask(platform, 'POST', '/api/gaze/store', { body })
      assert.deepEqual([reply.status, (await errorOf(reply)).param], [422, param])
    }
    const queries: Array<[string, string]> = [
      ['/api/gaze/history?limit=0', 'limit'],
      ['/api/gaze/history?source=nose', 'source'],
      ['/api/gaze/history?from=now', 'from'],
      ['/api/gaze/history?cursor=x', 'cursor'],
      ['/api/gaze/history?session=x', 'session'],
      ['/api/attestation/status', 'session_id'],
    ]
    for (const [path, param] of queries) {
      const reply = await ask(platform, 'GET', path)
      assert.ok(reply.status === 422 || reply.status === 400, `${path}: ${reply.status}`)
      assert.equal((await errorOf(reply)).param, param)
    }
    const paths = [
      '/api/gaze/history',
      '/api/attestation/status?session_id=x',
      '/api/gaze/store',
      '/api/verify-session',
    ]
    for (const path of paths) {
      const method = /store|verify/.test(path) ? 'POST' : 'GET'
      assert.equal((await ask(platform, method, path, { key: null })).status, 401, path)
      assert.equal((await ask(platform, 'DELETE', path)).status, 405, path)
    }
    const missing = await ask(platform, 'GET', '/api/attestation/status?session_id=nobody')
    assert.deepEqual([missing.status, (await errorOf(missing)).code], [404, 'not_found'])
  })

  it('is stored once under an idempotency key, though the first answer was lost with its process', async (t) => {
    const { idempotency } = platform.gateway
    const { run } = idempotency
    const runs: typeof run = (request, work) => run(request, dies(work))
    t.mock.method(idempotency, 'run', runs, { times: 1 })
    const headers = { 'idempotency-key': 'lost' }
    const body = { records: humanStream(11, { records: 160, start: new Date(Date.now() - 90_000).toISOString() }) }
    const store = () => ask(platform, 'POST', '/api/gaze/store', { body, headers, key: other })
    assert.equal((await store()).status, 500)
    const again = await store()
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'])
    assert.equal(StoredGaze.parse(await again.json()).attestation.status, 'passed')
  })
})

describe('verifying a session, a key or a wallet', () => {
  const wallet = `0x${'ab'.repeat(20)}`
  const payer = `0x${'cd'.repeat(20)}`

  it('shows tier and limits of an authenticated key, and nothing of any other', async () => {
    const proven = await platform.gateway.keys.create({ name: 'proven', scopes: ['platform'] })
    assert.deepEqual(await verify({ key: proven.key }, other), {
      valid: true,
      tier: 'metered',
      subject: proven.record.id,
      expires_at: null,
      capabilities: EIGHT,
      limits: { requests_per_minute: null, available_usd: 0, credit_limit_usd: 10, budgets: [] },
    })
    assert.equal((await verify({ key: platform.admin })).tier, 'admin')
    const free = await verify({ key: other })
    assert.deepEqual([free.tier, free.capabilities], ['free', EIGHT.slice(0, 6)])
    const { key } = await platform.gateway.keys.create({ name: 'chat', scopes: ['inference'] })
    assert.deepEqual([(await verify({ key })).tier, (await verify({ key })).capabilities], ['free', ['ai_chat']])
    const nobody = {
      valid: false,
      tier: 'anonymous',
      subject: null,
      expires_at: null,
      capabilities: [],
      limits: NOTHING,
    }
    for (const unknown of [`${platform.key}x`, 'gzw_nonsense', 'x'])
      assert.deepEqual(await verify({ key: unknown }), nobody)
    const { key: revoked, record } = await platform.gateway.keys.create({ name: 'old', scopes: ['platform'] })
    await platform.gateway.keys.revoke(record.id)
    assert.deepEqual(await verify({ key: revoked }), nobody)
  })

  it('shows a gaze session to its creator and to admins, with the expiry of its attestation', async () => {
    const mine = await verify({ session_id: 'reading' })
    assert.deepEqual([mine.valid, mine.tier, mine.subject], [true, 'metered', platform.keyId])
    const { expires_at } = await json(await ask(platform, 'GET', '/api/attestation/status?session_id=reading'))
    assert.equal(mine.expires_at, expires_at)
    assert.deepEqual(await verify({ session_id: 'reading' }, platform.admin), mine)
    assert.equal((await verify({ session_id: 'reading' }, other)).valid, false)
    assert.equal((await verify({ session_id: 'nobody' })).valid, false)
    const chat = await platform.gateway.sessions.create({ title: 'a chat' }, { userId: platform.keyId, source: 'api' })
    assert.equal((await verify({ session_id: chat.id })).subject, platform.keyId)
    assert.equal((await verify({ session_id: chat.id }, other)).valid, false)
    const { session_id } = await platform.gateway.gaze.store({ records: justRead().slice(0, 1) })
    const local = await verify({ session_id }, platform.admin)
    assert.deepEqual([local.valid, local.tier, local.subject], [true, 'free', session_id])
  })

  it('shows the expiry of a key, and rejects the key afterwards', async () => {
    const { keys } = platform.gateway
    const expires_at = '2999-01-31T00:00:00.000Z'
    const { key, record } = await keys.create({ name: 'brief', scopes: ['platform'], expires_at })
    const seen = await verify({ key })
    assert.deepEqual([seen.valid, seen.subject, seen.expires_at], [true, record.id, expires_at])
    const at = new Date().toISOString()
    await platform.gateway.store.db.updateTable('keys').set({ expires_at: at }).where('id', '=', record.id).execute()
    await keys.change(record.id, { name: 'over' })
    assert.deepEqual([(await verify({ key })).valid, (await verify({ key })).tier], [false, 'anonymous'])
  })

  it('shows the tier of a wallet, and its balance only to the owner', async () => {
    assert.equal((await verify({ wallet })).valid, false)
    const made = await platform.gateway.keys.create({
      name: 'w',
      scopes: ['platform'],
      wallet,
      limits: { credit_limit_usd: 3 },
    })
    const seen = await verify({ wallet: `0x${'AB'.repeat(20)}` }, other)
    assert.deepEqual([seen.tier, seen.subject, seen.limits], ['metered', wallet, NOTHING])
    const own = await verify({ wallet }, made.key)
    assert.equal((own.limits as typeof NOTHING).credit_limit_usd, 3)
    await platform.gateway.wallet.deposit({ caller_id: payer, amount_usd: 2, reference: 'r1' })
    const paid = await verify({ wallet: payer }, platform.admin)
    assert.deepEqual([paid.tier, paid.capabilities], ['metered', ['ai_chat', 'tempo_billing']])
    assert.equal((paid.limits as typeof NOTHING).available_usd, 2)
  })

  it('refuses other than one subject, and neither repeats nor logs a key', async () => {
    const secret = 'gzw_0123456789abcdef0123456789abcdef_secret'
    const bad: Array<[object, string | null]> = [
      [{}, null],
      [{ key: secret, wallet }, null],
      [{ wallet: 'me' }, 'wallet'],
      [{ key: [secret] }, 'key'],
      [{ token: secret }, 'token'],
    ]
    for (const [body, param] of bad) {
      const reply = await ask(platform, 'POST', '/api/verify-session', { body })
      const text = await reply.clone().text()
      assert.deepEqual([reply.status, (await errorOf(reply)).param], [422, param])
      assert.ok(!text.includes(secret), 'the refused key is not repeated')
    }
    const reply = await ask(platform, 'POST', '/api/verify-session', { body: { key: platform.key } })
    assert.ok(!(await reply.text()).includes(platform.key), 'the key is not echoed')
    const lines = platform.logged.join('\n')
    assert.ok(!lines.includes(platform.key) && !lines.includes(secret), 'no key is logged')
  })

  it('accepts the id of a chat for gaze of its members and of admins', async () => {
    const { sessions } = platform.gateway
    for (const id of ['own1', 'own2']) await sessions.create({ id }, { userId: platform.keyId, source: 'api' })
    const storing = (session_id: string, key: string) =>
      ask(platform, 'POST', '/api/gaze/store', { body: { session_id, records: justRead().slice(0, 1) }, key })
    const refused = await storing('own1', other)
    assert.equal(refused.status, 409)
    const { code, param } = await errorOf(refused)
    assert.deepEqual([code, param], ['conflict', 'session_id'])
    assert.equal((await storing('own1', platform.key)).status, 201)
    // An admin's gaze of a chat leaves it its user's.
    assert.equal((await storing('own2', platform.admin)).status, 201)
    assert.equal((await verify({ session_id: 'own2' })).subject, platform.keyId)
    // Nor does a chat that begins later take an id from the gaze that has it.
    assert.equal((await storing('own3', other)).status, 201)
    await sessions.create({ id: 'own3' }, { userId: platform.keyId, source: 'api' })
    assert.equal((await storing('own3', other)).status, 201)
  })

  it('is described among the routes, and the status says that gaze is served', async () => {
    const { paths } = (await json(await ask(platform, 'GET', '/openapi.json'))) as { paths: Record<string, object> }
    assert.deepEqual(Object.keys(paths['/api/gaze/store'] ?? {}), ['post'])
    assert.deepEqual(Object.keys(paths['/api/attestation/status'] ?? {}), ['get'])
    const { features } = (await json(await ask(platform, 'GET', '/api/gateway-status'))) as {
      features: { gaze: boolean }
    }
    assert.equal(features.gaze, true)
  })
})
