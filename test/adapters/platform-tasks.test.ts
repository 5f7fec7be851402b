import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { humanStream } from '../gaze/human-stream.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

interface Reply {
  id: string
  status: string
  escrow_id: string
  claim_token: string
  [field: string]: unknown
}

const NOT_SETTLED = { mode: 'ledger', status: 'none', tx_hash: null, attempts: 0, error: null }

describe('tasks and escrow over the platform', () => {
  let platform: RunningPlatform
  let other: string
  let streams = 0

  before(async () => {
    platform = await startPlatform('sandbox', { withHttp: false })
    other = (
      await platform.gateway.keys.create({ name: 'other', scopes: ['platform'], limits: { credit_limit_usd: 0 } })
    ).key
  })
  after(() => platform.close())

  async function reply(status: number, ...of: Parameters<typeof ask>): Promise<Reply> {
    const answer = await ask(...of)
    const body = (await answer.json()) as Reply
    assert.equal(answer.status, status, JSON.stringify(body))
    return body
  }
  const post = (status: number, path: string, body: unknown, key?: string) =>
    reply(status, platform, 'POST', path, { body, ...(key === undefined ? {} : { key }) })
  const get = (path: string) => reply(200, platform, 'GET', path)

  /** An attestation of the payer's gaze; it counts where the task is completed. */
  async function attest(taskId: string): Promise<string> {
    // Numbered, not drawn: about 1 of 200 seeds makes a stream that scores below the pass.
    const records = humanStream(++streams, { start: new Date().toISOString() })
    const { attestation } = await platform.gateway.gaze.store({ task_id: taskId, records }, platform.keyId)
    assert.equal(attestation.status, 'passed')
    return attestation.id
  }

  async function refused(status: number, code: string, param: string | null, ...of: Parameters<typeof ask>) {
    const answer = await ask(...of)
    const error = await errorOf(answer)
    assert.deepEqual([answer.status, error.code, error.param], [status, code, param], error.message)
    return error
  }

  it('tells the whole story: a reward is locked, earned, and released', async () => {
    const task = await post(201, '/api/tasks', { title: 'Write it', reward_usd: 2.5, capabilities: ['prose'] })
    assert.equal(task.status, 'open')
    const wallet = (await get('/api/wallet')) as unknown as { ledger: { escrow_usd: number } }
    assert.equal(wallet.ledger.escrow_usd, 2.5)
    const found = (await get('/api/tasks?status=open&capability=prose')) as unknown as { items: Reply[]; total: number }
    assert.deepEqual([found.total, found.items[0]?.id], [1, task.id])
    const claim = await post(200, `/api/tasks/${task.id}/claim`, { agent: 'ada' }, other)
    await post(200, `/api/tasks/${task.id}/heartbeat`, { claim_token: claim.claim_token }, other)
    const early = { escrow_id: task.escrow_id, attestation_id: await attest(task.id) }
    const release = '/api/wallet/escrow/release'
    await refused(409, 'task_not_completed', 'escrow_id', platform, 'POST', release, { body: early })
    const { claim_token } = claim
    const done = await post(200, `/api/tasks/${task.id}/complete`, { agent: 'ada', claim_token, result: 'It.' }, other)
    assert.deepEqual([done.status, done.result], ['completed', 'It.'])
    await refused(403, 'gaze_verification_failed', 'attestation_id', platform, 'POST', release, { body: early })
    const of = { escrow_id: task.escrow_id, attestation_id: await attest(task.id) }
    const toPayer = { body: { ...of, recipient: platform.keyId } }
    await refused(409, 'recipient_fixed', 'recipient', platform, 'POST', release, toPayer)
    const released = await post(200, release, of)
    assert.deepEqual([released.recipient, released.settlement], [claim.claimed_by, NOT_SETTLED])
    assert.equal(released.status, 'released')
    assert.deepEqual(await post(200, '/api/wallet/escrow/release', of), released)
    assert.deepEqual(await get(`/api/wallet/escrow/${task.escrow_id}`), released)
    const escrows = (await get(`/api/wallet/escrow?task_id=${task.id}&status=released`)) as unknown as { total: number }
    assert.equal(escrows.total, 1)
    const stats = (await get('/api/tasks/stats')) as unknown as { reward_usd: object }
    assert.deepEqual(stats.reward_usd, { locked: 0, paid: 2.5, refunded: 0 })
  })

  it('shows an escrow to its payer, its recipient, the keys of its task and admins alone', async () => {
    const { gateway, keyId, key: payer } = platform
    const make = (name: string) => gateway.keys.create({ name, scopes: ['platform'] })
    const { key: admin, record: chief } = await gateway.keys.create({ name: 'chief', scopes: ['admin'] })
    const [worker, named, stranger] = await Promise.all([make('worker'), make('named'), make('stranger')])
    const reward = { title: 'Paid', reward_usd: 1, recipient: named.record.id }
    const { id: task_id, escrow_id } = await post(201, '/api/tasks', reward)
    await post(200, `/api/tasks/${task_id}/claim`, { agent: 'ada' }, worker.key)
    const bare = await post(201, '/api/tasks', { title: 'Paid by an admin' })
    await reply(200, platform, 'POST', '/api/wallet/metered/deposit', {
      body: { caller_id: chief.id, amount_usd: 1, reference: 'of-the-chief' },
      key: admin,
    })
    const ofAdmin = await post(201, '/api/wallet/escrow', { task_id: bare.id, amount_usd: 1 }, admin)
    const list = async (query: string, key: string) => {
      const page = await reply(200, platform, 'GET', `/api/wallet/escrow?${query}`, { key })
      const { items, total } = page as unknown as { items: Reply[]; total: number }
      assert.equal(total, items.length)
      return items.map(({ id }) => id).filter((id) => id === escrow_id || id === ofAdmin.id)
    }
    const both: readonly string[] = [ofAdmin.id, escrow_id]
    const first: readonly string[] = [escrow_id]
    const none: readonly string[] = []
    const live = 'status=live&limit=1000'
    for (const [who, key, seen, all] of [
      ['the payer, who also created the task of the other', payer, both, both],
      ['an admin', admin, both, both],
      ['the claimant', worker.key, first, first],
      ['the recipient, who has nothing else to do with its task', named.key, first, first],
      ['a stranger', stranger.key, none, none],
    ] as const) {
      assert.deepEqual(await list(`${live}`, key), all, who)
      assert.deepEqual(
        await list(`${live}&payer=${keyId}`, key),
        all.filter((id) => id === escrow_id),
        who,
      )
      for (const [id, task] of [
        [escrow_id, task_id],
        [ofAdmin.id, bare.id],
      ] as const) {
        assert.deepEqual(
          await list(`task_id=${task}`, key),
          seen.filter((one) => one === id),
          who,
        )
        if (seen.includes(id)) await reply(200, platform, 'GET', `/api/wallet/escrow/${id}`, { key })
        else await refused(404, 'not_found', 'escrow_id', platform, 'GET', `/api/wallet/escrow/${id}`, { key })
      }
    }
  })

  it('pays no fixed key when none is set', async () => {
    const recipient = 'key_environment'
    const deposit = { caller_id: recipient, amount_usd: 1, reference: 'fixed-key' }
    const path = '/api/wallet/metered/deposit'
    const { key, admin, gateway } = platform
    const task = { title: 'For the fixed key', reward_usd: 1, recipient }
    const isRefused = async () => {
      await refused(404, 'not_found', 'caller_id', platform, 'POST', path, { body: deposit, key: admin })
      await refused(422, 'validation_failed', 'recipient', platform, 'POST', '/api/tasks', { body: task, key })
    }
    await isRefused()
    await gateway.config.set({ 'identity.api_key': 'a-fixed-key-of-the-configuration' })
    await reply(200, platform, 'POST', path, { body: deposit, key: admin })
    const { id, escrow_id } = await post(201, '/api/tasks', task)
    const bare = await post(201, '/api/tasks', { ...task, reward_usd: 0 })
    await gateway.config.set({ 'identity.api_key': null })
    await refused(422, 'validation_failed', 'recipient', platform, 'POST', '/api/wallet/escrow', {
      body: { task_id: bare.id, amount_usd: 1, recipient },
    })
    assert.equal((await reply(200, platform, 'POST', path, { body: deposit, key: admin })).caller_id, recipient)
    await post(200, `/api/tasks/${id}/claim`, { agent: 'ada' }, other)
    await post(200, `/api/tasks/${id}/complete`, { agent: 'ada' }, other)
    const of = { escrow_id, attestation_id: await attest(id) }
    assert.equal((await post(200, '/api/wallet/escrow/release', of)).status, 'released')
  })

  it('makes one task for one idempotency key, and shows a claim token once', async () => {
    const headers = { 'idempotency-key': 'once' }
    const body = { title: 'Once', reward_usd: 1 }
    const first = await reply(201, platform, 'POST', '/api/tasks', { body, headers })
    assert.deepEqual(await reply(201, platform, 'POST', '/api/tasks', { body, headers }), first)
    const claim = { body: { agent: 'ada' }, headers: { 'idempotency-key': 'claim' } }
    await reply(200, platform, 'POST', `/api/tasks/${first.id}/claim`, claim)
    await refused(
      409,
      'idempotency_reply_not_kept',
      'idempotency-key',
      platform,
      'POST',
      `/api/tasks/${first.id}/claim`,
      claim,
    )
    const cancelled = await reply(200, platform, 'DELETE', `/api/tasks/${first.id}`)
    assert.equal(cancelled.status, 'cancelled')
    assert.equal((await get(`/api/wallet/escrow/${first.escrow_id}`)).status, 'refunded')
  })

  it('cancels and refunds once for one idempotency key, and answers the same again', async (t) => {
    const [task, spare] = [
      await post(201, '/api/tasks', { title: 'Cancelled', reward_usd: 1 }),
      await post(201, '/api/tasks', { title: 'Not this one' }),
    ]
    const path = `/api/tasks/${task.id}`
    const headers = { 'idempotency-key': 'cancel' }
    await refused(403, 'forbidden', null, platform, 'DELETE', path, { headers, key: other })
    const { tasks } = platform.gateway
    const { cancel } = tasks
    async function dies(...args: Parameters<typeof cancel>): Promise<never> {
      await cancel(...args)
      throw new Error('The process died.')
    }
    t.mock.method(tasks, 'cancel', dies, { times: 1 })
    assert.equal((await ask(platform, 'DELETE', path, { headers })).status, 500)
    for (let i = 0; i < 2; i++) {
      const answer = await ask(platform, 'DELETE', path, { headers })
      assert.deepEqual([answer.status, answer.headers.get('idempotent-replayed')], [200, 'true'])
      assert.deepEqual(await answer.json(), await get(path))
    }
    await refused(409, 'invalid_transition', null, platform, 'DELETE', path)
    const elsewhere = [platform, 'DELETE', `/api/tasks/${spare.id}`, { headers }] as const
    await refused(422, 'idempotency_key_reused', 'idempotency-key', ...elsewhere)
  })

  it('does under the same idempotency key what was refused for how things stood, and then once', async () => {
    async function made(body: object = {}) {
      const task = await post(201, '/api/tasks', { title: 'Refused first', ...body })
      return { ...task, path: `/api/tasks/${task.id}` }
    }
    const keyed = (key: string, body: object) => ({ body, headers: { 'idempotency-key': key } })
    const again = async (path: string, of: object) => {
      const first = await reply(200, platform, 'POST', path, of)
      const repeated = await ask(platform, 'POST', path, of)
      assert.equal(repeated.headers.get('idempotent-replayed'), 'true')
      assert.deepEqual(await repeated.json(), first)
    }
    const paid = await made({ reward_usd: 1 })
    const release = { escrow_id: paid.escrow_id, attestation_id: await attest(paid.id) }
    const early = [platform, 'POST', '/api/wallet/escrow/release', keyed('early', release)] as const
    await refused(409, 'task_not_completed', 'escrow_id', ...early)
    const refund = [platform, 'POST', `/api/wallet/escrow/${paid.escrow_id}/refund`, keyed('no refund', {})] as const
    await refused(409, 'invalid_transition', null, ...refund)
    const finish = { ...keyed('finish', { agent: 'ada' }), key: other }
    await refused(409, 'invalid_transition', null, platform, 'POST', `${paid.path}/complete`, finish)
    await post(200, `${paid.path}/claim`, { agent: 'bob' }, other)
    await refused(403, 'forbidden', null, platform, 'POST', `${paid.path}/complete`, finish)
    await post(200, `${paid.path}/complete`, { agent: 'bob' }, other)
    const wrong = { ...release, attestation_id: `att_${'0'.repeat(32)}` }
    const unseen = [platform, 'POST', '/api/wallet/escrow/release', keyed('unseen', wrong)] as const
    await refused(403, 'gaze_verification_failed', 'attestation_id', ...unseen)
    // Of the payer's own gaze, all of which is of the time before the completion.
    await refused(403, 'gaze_verification_failed', 'attestation_id', ...early)
    const later = { ...release, attestation_id: await attest(paid.id) }
    await again('/api/wallet/escrow/release', keyed('later', later))
    assert.equal((await get(`/api/wallet/escrow/${paid.escrow_id}`)).status, 'released')

    const held = await made()
    await post(200, `${held.path}/claim`, { agent: 'bob' }, other)
    const claim = keyed('held', { agent: 'ada' })
    await refused(409, 'invalid_transition', null, platform, 'POST', `${held.path}/claim`, claim)
    const over = new Date().toISOString()
    await platform.gateway.store.db
      .updateTable('tasks')
      .set({ lease_expires_at: over })
      .where('id', '=', held.id)
      .execute()
    await reply(200, platform, 'POST', `${held.path}/claim`, claim)
  })

  it('lets the claimant go on where the answer to its claim was lost', async (t) => {
    const { id } = await post(201, '/api/tasks', { title: 'Claimed once' })
    const { tasks } = platform.gateway
    const { claim } = tasks
    async function dies(...args: Parameters<typeof claim>): Promise<never> {
      await claim(...args)
      throw new Error('The process died.')
    }
    t.mock.method(tasks, 'claim', dies, { times: 1 })
    const path = `/api/tasks/${id}`
    const of = { body: { agent: 'ada', lease_seconds: 60 }, headers: { 'idempotency-key': 'lost claim' }, key: other }
    assert.equal((await ask(platform, 'POST', `${path}/claim`, of)).status, 500)
    const { message } = await refused(
      409,
      'idempotency_reply_not_kept',
      'idempotency-key',
      platform,
      'POST',
      `${path}/claim`,
      of,
    )
    assert.match(message, /continue without claim_token: send only the agent name/)
    const missing = await refused(422, 'validation_failed', 'claim_token', platform, 'POST', `${path}/heartbeat`, {
      body: {},
      key: other,
    })
    assert.match(missing.message, /^claim_token: missing, and so is agent; must be /)
    assert.equal((await post(200, `${path}/heartbeat`, { agent: 'ada' }, other)).status, 'claimed')
    assert.equal((await post(200, `${path}/complete`, { agent: 'ada' }, other)).status, 'completed')
  })

  it('makes, locks and ends nothing twice where the first answer was lost with what it had done', async (t) => {
    const totals = async () => JSON.stringify(await get('/api/tasks/stats'))
    const dies =
      <Args extends unknown[]>(work: (...args: Args) => Promise<unknown>) =>
      async (...args: Args): Promise<never> => {
        await work(...args)
        throw new Error('The process died.')
      }
    async function again(path: string, body: object, key = platform.key) {
      const of = { body, headers: { 'idempotency-key': `lost ${path}` }, key }
      assert.equal((await ask(platform, 'POST', path, of)).status, 500)
      const before = await totals()
      const answer = await ask(platform, 'POST', path, of)
      assert.equal(answer.headers.get('idempotent-replayed'), 'true', path)
      assert.equal(await totals(), before)
      return (await answer.json()) as Reply
    }
    const once = { times: 1 }
    const { tasks, escrows } = platform.gateway
    t.mock.method(tasks, 'create', dies(tasks.create), once)
    const { id, ...task } = await again('/api/tasks', { title: 'Lost' })
    assert.deepEqual(await get(`/api/tasks/${id}`), { id, ...task })
    t.mock.method(escrows, 'create', dies(escrows.create), once)
    const escrow = await again('/api/wallet/escrow', { task_id: id, amount_usd: 2 })
    assert.deepEqual(await get(`/api/wallet/escrow/${escrow.id}`), escrow)
    await post(200, `/api/tasks/${id}/claim`, { agent: 'ada' }, other)
    t.mock.method(tasks, 'complete', dies(tasks.complete), once)
    const failed = await again(`/api/tasks/${id}/complete`, { agent: 'ada', status: 'failed' }, other)
    assert.deepEqual(await get(`/api/tasks/${id}`), failed)
  })

  it('locks money once for one idempotency key, which no other body can use', async () => {
    const { id } = await post(201, '/api/tasks', { title: 'Locked once' })
    const locked = async () =>
      ((await get('/api/tasks/stats')) as unknown as { reward_usd: { locked: number } }).reward_usd.locked
    const before = await locked()
    const of = { body: { task_id: id, amount_usd: 2 }, headers: { 'idempotency-key': 'lock' } }
    const replies = await Promise.all(Array.from({ length: 4 }, () => ask(platform, 'POST', '/api/wallet/escrow', of)))
    const made = replies.filter(({ status }) => status === 201)
    assert.ok(made.length > 0, 'one of them locks it')
    for (const other of replies) assert.ok([201, 409].includes(other.status), `in flight or done, not ${other.status}`)
    const first = await reply(201, platform, 'POST', '/api/wallet/escrow', of)
    for (const other of made) assert.deepEqual(await other.json(), first)
    assert.equal(await locked(), before + 2)
    const another = { ...of, body: { ...of.body, amount_usd: 3 } }
    const { code } = await errorOf(await ask(platform, 'POST', '/api/wallet/escrow', another))
    assert.equal(code, 'idempotency_key_reused')
    await reply(200, platform, 'DELETE', `/api/tasks/${id}`)
  })

  it('locks and refunds money for a task that is there', async () => {
    const task = await post(201, '/api/tasks', { title: 'Later' })
    const escrow = await post(201, '/api/wallet/escrow', { task_id: task.id, amount_usd: 3 })
    assert.deepEqual([escrow.status, escrow.amount_usd, escrow.payer], ['locked', 3, platform.keyId])
    const path = `/api/wallet/escrow/${escrow.id}/refund`
    const error = await refused(409, 'invalid_transition', null, platform, 'POST', path, { body: {} })
    assert.match(error.message, /is locked and its task is open/)
    await reply(200, platform, 'DELETE', `/api/tasks/${task.id}`)
    assert.equal((await post(200, path, { reason: 'done' })).status, 'refunded')
    await refused(415, 'unsupported_media_type', null, platform, 'POST', path, {
      body: 'reason=none',
      headers: { 'content-type': 'text/plain' },
    })
  })

  it('gives money back without a word, once for an idempotency key', async () => {
    const { id, escrow_id } = await post(201, '/api/tasks', { title: 'Late', reward_usd: 1, ttl_seconds: 60 })
    const expired = { expires_at: new Date(Date.now() - 1).toISOString() }
    await platform.gateway.store.db.updateTable('escrows').set(expired).where('id', '=', escrow_id).execute()
    const path = `/api/wallet/escrow/${escrow_id}/refund`
    const headers = { 'idempotency-key': 'refund' }
    const refunded = await reply(200, platform, 'POST', path, { headers })
    assert.deepEqual([refunded.status, refunded.reason], ['refunded', null])
    const replay = await ask(platform, 'POST', path, { headers })
    assert.equal(replay.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(await replay.json(), refunded)
    const typed = { headers: { 'content-type': 'application/json' } }
    assert.deepEqual(await reply(200, platform, 'POST', path, typed), refunded)
    assert.equal((await get(`/api/tasks/${id}`)).status, 'open')
  })

  it('refuses what is out of order, and says what is so now', async () => {
    const { id } = await post(201, '/api/tasks', { title: 'Mine' })
    const claim = (key: string) => ({ body: { agent: 'ada' }, key })
    await reply(200, platform, 'POST', `/api/tasks/${id}/claim`, claim(platform.key))
    const error = await refused(
      409,
      'invalid_transition',
      null,
      platform,
      'POST',
      `/api/tasks/${id}/claim`,
      claim(other),
    )
    assert.match(error.message, /is claimed/)
    const end = `/api/tasks/${id}/complete`
    await refused(403, 'forbidden', null, platform, 'POST', end, { body: { agent: 'ada', result: 1 }, key: other })
    await refused(403, 'forbidden', null, platform, 'DELETE', `/api/tasks/${id}`, { key: other })
    await reply(200, platform, 'POST', end, { body: { agent: 'ada', result: 1 }, key: platform.admin })
    await refused(409, 'invalid_transition', null, platform, 'POST', end, { body: { agent: 'ada', result: 1 } })
    await refused(409, 'invalid_transition', null, platform, 'DELETE', `/api/tasks/${id}`)
  })

  it('refuses a reward beyond the credit, and makes no task', async () => {
    const total = async () => ((await get('/api/tasks/stats')) as unknown as { total: number }).total
    const before = await total()
    const body = { title: 'Dear', reward_usd: 1000 }
    await refused(402, 'insufficient_credit', null, platform, 'POST', '/api/tasks', { body, key: other })
    assert.equal(await total(), before)
  })

  it('names the field at fault', async () => {
    const { id } = await post(201, '/api/tasks', { title: 'Fields' })
    const nobody = `key_${'0'.repeat(32)}`
    const cases: Array<[path: string, body: unknown, param: string]> = [
      ['/api/tasks', {}, 'title'],
      ['/api/tasks', { title: '' }, 'title'],
      ['/api/tasks', { title: 'a', reward_usd: 0.0000001 }, 'reward_usd'],
      ['/api/tasks', { title: 'a', reward_usd: -1 }, 'reward_usd'],
      ['/api/tasks', { title: 'a', ttl_seconds: 59 }, 'ttl_seconds'],
      ['/api/tasks', { title: 'a', depends_on: ['x'] }, 'depends_on.0'],
      ['/api/tasks', { title: 'a', depends_on: [`task_${'0'.repeat(32)}`] }, 'depends_on'],
      ['/api/tasks', { title: 'a', recipient: '0x12' }, 'recipient'],
      ['/api/tasks', { title: 'a', reward_usd: 1, recipient: `0x${'0'.repeat(40)}` }, 'recipient'],
      ['/api/tasks', { title: 'a', reward_usd: 1, recipient: nobody }, 'recipient'],
      [`/api/tasks/${id}/claim`, {}, 'agent'],
      [`/api/tasks/${id}/claim`, { agent: 'a', lease_seconds: 0 }, 'lease_seconds'],
      [`/api/tasks/${id}/complete`, { agent: 'a', status: 'open' }, 'status'],
      [`/api/tasks/${id}/complete`, { agent: 'a', result: 'x'.repeat(256 * 1024 + 1) }, 'result'],
      ['/api/wallet/escrow', { task_id: id, amount_usd: 0 }, 'amount_usd'],
      ['/api/wallet/escrow', { task_id: 'x', amount_usd: 1 }, 'task_id'],
      ['/api/wallet/escrow/release', { escrow_id: `esc_${'0'.repeat(32)}` }, 'attestation_id'],
    ]
    for (const [path, body, param] of cases)
      await refused(422, 'validation_failed', param, platform, 'POST', path, { body })
    await refused(404, 'not_found', 'id', platform, 'GET', '/api/tasks/nothing')
    await refused(404, 'not_found', 'id', platform, 'GET', `/api/tasks/task_${'0'.repeat(32)}`)
    await refused(404, 'not_found', 'escrow_id', platform, 'GET', `/api/wallet/escrow/esc_${'0'.repeat(32)}`)
    await refused(422, 'validation_failed', 'status', platform, 'GET', '/api/tasks?status=done')
    await refused(401, 'invalid_api_key', null, platform, 'GET', '/api/tasks', { key: null })
  })
})
