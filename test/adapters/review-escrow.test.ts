import assert from 'node:assert/strict'
import { after, before, it, type TestContext } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import type { ReviewRecord, ReviewWithParts } from '../../src/review/review-record.ts'
import type { Task } from '../../src/tasks/task-record.ts'
import { until } from '../doubles/until.ts'
import { createRepository } from '../review/repository.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

let platform: RunningPlatform
let [worker, stranger] = ['', '']
before(async () => {
  platform = await startPlatform('sandbox', { withHttp: false })
  const createKey = async (name: string) => (await platform.gateway.keys.create({ name, scopes: ['platform'] })).key
  ;[worker, stranger] = [await createKey('worker'), await createKey('stranger')]
})
after(() => platform.close())

/** Asks the platform. Returns the status and the answer. */
async function send<Body>(key: string, path: string, body: object) {
  const reply = await ask(platform, 'POST', path, { key, body })
  return { status: reply.status, answer: (await reply.json()) as Body & { error?: { code: string; message: string } } }
}

/** A task of the platform's key with a review, which the worker has completed with a change. */
async function deliver(t: TestContext) {
  const repository = createRepository(t)
  repository.commitFiles({ 'pay.ts': 'check()\n' })
  repository.commitFiles({ 'pay.ts': 'check()\nsend(1)\n' })
  const change = await readChange(await openCheckout(repository.root), 'HEAD^', 'HEAD')
  const terms = { title: 'Pay', reward_usd: 2, review: { level: 'seen' } }
  const { answer: task } = await send<Task>(platform.key, '/api/tasks', terms)
  const claim = await send<{ claim_token: string }>(worker, `/api/tasks/${task.id}/claim`, { agent: 'ada' })
  const result = { agent: 'ada', claim_token: claim.answer.claim_token, result: change }
  const completed = await send<Task>(worker, `/api/tasks/${task.id}/complete`, result)
  assert.equal(completed.status, 200, JSON.stringify(completed.answer))
  return { task, change }
}

type Change = Awaited<ReturnType<typeof deliver>>['change']

/** Reads all of a change and approves it, with one key. Returns the review's id. */
async function read(
  key: string,
  change: Change,
  task_id: string,
  decision: string | null = 'approve',
): Promise<string> {
  const begun = await send<ReviewRecord>(key, '/api/reviews', { ...change, task_id })
  assert.equal(begun.status, 201, JSON.stringify(begun.answer))
  const { id } = begun.answer
  let since = Date.now()
  await until(async () => {
    const env = { path: 'pay.ts', line_start: 2, line_end: 2 }
    const records = [{ at: new Date(since).toISOString(), dwell_ms: Date.now() - since, source: 'ide', env }]
    since = Date.now()
    const { answer } = await send<ReviewWithParts['reading']>(key, `/api/reviews/${id}/evidence`, { records })
    return answer.parts[0]?.seen === 1
  })
  if (decision !== null)
    await send(key, `/api/reviews/${id}/decision`, { reviewer: 'ann@example.org', decision, acknowledged: [] })
  return id
}

const release = async (key: string, task: Task, attestation_id: string) => {
  const of = { escrow_id: task.escrow_id, attestation_id }
  const { status, answer } = await send<{ status: string }>(key, '/api/wallet/escrow/release', of)
  return `${status} ${answer.error?.code ?? answer.status}`
}

it('A reward with a review is released by no review of its worker or of a stranger, whoever sends it', async (t) => {
  const { task, change } = await deliver(t)
  for (const reader of [worker, stranger]) {
    const review = await read(reader, change, task.id)
    for (const sender of [worker, platform.key])
      assert.equal(await release(sender, task, review), '403 gaze_verification_failed')
    assert.match(await release(stranger, task, review), /^40[34] /)
  }
})

it('A reward is released by the payer’s own review once it is decided, which nobody else adds to', async (t) => {
  const { task, change } = await deliver(t)
  const other = await deliver(t)
  const open = await read(platform.key, change, task.id, null)
  assert.equal(await release(worker, task, open), '403 gaze_verification_failed')
  for (const key of [worker, stranger]) {
    const decision = { reviewer: 'ann@example.org', decision: 'approve', acknowledged: [] }
    assert.equal((await send(key, `/api/reviews/${open}/decision`, decision)).status, 404)
    const records = [{ at: new Date().toISOString(), dwell_ms: 0, source: 'ide', env: { path: 'pay.ts' } }]
    assert.equal((await send(key, `/api/reviews/${open}/evidence`, { records })).status, 404)
  }
  await send(platform.key, `/api/reviews/${open}/decision`, {
    reviewer: 'ann@example.org',
    decision: 'request_changes',
  })
  assert.equal(await release(worker, task, open), '403 gaze_verification_failed')
  const approved = await read(platform.key, change, task.id)
  assert.equal(await release(worker, other.task, approved), '403 gaze_verification_failed', 'of another task')
  const both = await Promise.all([release(platform.key, task, approved), release(worker, task, approved)])
  assert.deepEqual(both, ['200 released', '200 released'])
  const { answer } = await send<{ status: string }>(platform.key, '/api/wallet/escrow/release', {
    escrow_id: other.task.escrow_id,
    attestation_id: approved,
  })
  assert.equal(answer.error?.code, 'gaze_verification_failed', 'used, and of another task')
})
