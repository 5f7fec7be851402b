import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { readChange } from '../../src/review/change.ts'
import type { Change } from '../../src/review/change-parts.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { openReceipt, type Receipt } from '../../src/review/receipt.ts'
import type { ReviewRecord, ReviewWithParts } from '../../src/review/review-record.ts'
import { signed } from '../../src/review/statement.ts'
import type { Verdict } from '../../src/review/verify.ts'
import { type GatewayKey, observerLine } from '../../src/signing/gateway-keys.ts'
import { until } from '../doubles/until.ts'
import { createPerson, lineOf } from '../review/people.ts'
import { createRepository, numbered } from '../review/repository.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

describe('reviews over the platform', () => {
  let platform: RunningPlatform
  let other: string
  before(async () => {
    platform = await startPlatform('sandbox', { withHttp: false })
    other = (await platform.gateway.keys.create({ name: 'other', scopes: ['platform'] })).key
  })
  after(() => platform.close())

  async function reply<Body>(status: number, method: string, path: string, body?: unknown, key?: string | null) {
    const answer = await ask(platform, method, path, {
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { key }),
    })
    const said = (await answer.json()) as Body
    assert.equal(answer.status, status, JSON.stringify(said))
    return said
  }

  const refused = async (method: string, path: string, body: unknown, key?: string) => {
    const answer = await ask(platform, method, path, { body, ...(key === undefined ? {} : { key }) })
    return (await errorOf(answer)).code
  }

  /** The change of a commit with two lines in one file, and a mode. */
  async function createChange(t: TestContext): Promise<Change> {
    const repository = createRepository(t)
    repository.commitFiles({ 'src/pay.ts': numbered(60), 'run.sh': 'echo\n' })
    chmodSync(join(repository.root, 'run.sh'), 0o755)
    repository.write('src/pay.ts', numbered(60).replace('line 10\n', 'ten\n').replace('line 50\n', ''))
    repository.commit()
    return readChange(await openCheckout(repository.root), 'HEAD^', 'HEAD')
  }

  /** A record of lines in view from `ago` ms before now. */
  const view = (path: string, line_start: number, line_end: number, ago: number, dwell_ms: number) => ({
    at: new Date(Date.now() - ago).toISOString(),
    dwell_ms,
    source: 'ide',
    env: { path, line_start, line_end },
  })

  it('leads from a change to a receipt that a policy accepts, and that names what was not read', async (t) => {
    const change = await createChange(t)
    const review = await reply<ReviewRecord>(201, 'POST', '/api/reviews', change)
    assert.deepEqual(
      review.hunks.map(({ kind, path, lines }) => [kind, path, lines]),
      change.parts.map(({ kind, path, lines }) => [kind, path, lines]),
    )
    const records = [view('src/pay.ts', 10, 10, 1000, 1000)]
    const reading = await reply<ReviewWithParts['reading']>(200, 'POST', `/api/reviews/${review.id}/evidence`, {
      records,
    })
    assert.deepEqual(
      reading.parts.map(({ path, visits, lines }) => [path, visits, lines]),
      [
        ['run.sh', 0, 1],
        ['src/pay.ts', 1, 2],
        ['src/pay.ts', 0, 1],
      ],
    )
    const mode = change.parts.find(({ kind }) => kind === 'mode')?.digest
    const decision = { reviewer: 'ann@example.org', decision: 'approve', acknowledged: [mode] }
    const receipt = await reply<Receipt>(200, 'POST', `/api/reviews/${review.id}/decision`, decision)
    const opened = openReceipt(receipt, 'receipt')
    assert.deepEqual([opened.review.level, opened.review.coverage.lines], ['seen', 4])
    assert.ok(reading.ms_per_line !== null && reading.ms_per_line <= 1000 / 4)

    const ann = createPerson('ann@example.org')
    const envelope = await signed(opened.payload, ann.signer)
    const { keys } = await reply<{ keys: GatewayKey[] }>(200, 'GET', '/.well-known/gazeway-keys', undefined, null)
    assert.equal(opened.review.observer?.keyid, keys[0]?.keyid)
    const judged = {
      receipts: [{ ...receipt, envelope }],
      change: { digest: change.digest, parts: change.parts },
      authors: ['Ada@example.org'],
    }
    const policy = { version: 1, allowed_signers: 'signers', level: 'seen', observers: ['gateway'] }
    const signers = [lineOf(ann), ...keys.map((key) => observerLine('gateway', key))].join('\n')
    const sent = { ...judged, policy, allowed_signers: signers }
    const verdict = await reply<Verdict>(200, 'POST', '/api/reviews/verify', sent)
    assert.deepEqual(
      [verdict.passed, verdict.unread.at(-1), verdict.reviewers],
      [false, { place: 'src/pay.ts:50 (removed)', reason: 'in no receipt that counts' }, ['ann@example.org']],
    )
    assert.equal(await refused('POST', '/api/reviews/verify', judged), 'validation_failed')
    const folder = platform.gateway.loaded.dataDir
    writeFileSync(join(folder, 'review.json'), JSON.stringify(policy))
    writeFileSync(join(folder, 'signers'), signers)
    assert.deepEqual(await reply<Verdict>(200, 'POST', '/api/reviews/verify', judged), verdict)
    const { items } = await reply<{ items: ReviewRecord[] }>(200, 'GET', '/api/reviews?limit=1')
    assert.deepEqual([items[0]?.id, items[0]?.receipt], [review.id, receipt])
  })

  it('counts lines that an editor, a webcam, an eye tracker or a pointer names, in the session of the review', async (t) => {
    const change = await createChange(t)
    for (const source of ['ide', 'webcam', 'eye_tracker', 'pointer']) {
      const { id, session_id } = await reply<ReviewRecord>(201, 'POST', '/api/reviews', change)
      let since = Date.now()
      await until(async () => {
        const env = { path: 'src/pay.ts', line_start: 10, line_end: 10, x: 0.4, y: 0.2 }
        const records = [{ at: new Date(since).toISOString(), dwell_ms: Date.now() - since, source, env }]
        since = Date.now()
        const path = `/api/reviews/${id}/evidence`
        const { parts, level } = await reply<ReviewWithParts['reading']>(200, 'POST', path, { records })
        assert.ok(level === 'seen' || level === 'none', 'too few records for more')
        return parts[1]?.seen === parts[1]?.lines
      })
      const { parts } = (await reply<ReviewWithParts>(200, 'GET', `/api/reviews/${id}`)).reading
      assert.equal(parts[2]?.seen, 0, `${source}: a hunk of removed lines alone is not free`)
      const session = await reply<{ items: { source: string }[] }>(
        200,
        'GET',
        `/api/gaze/history?session_id=${session_id}`,
      )
      assert.ok(session.items.length > 0 && session.items.every((record) => record.source === source))
    }
  })

  it('serves the front end of the documentation, from a change to a receipt', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gazeway-front-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const [, program = ''] = /```js\n(import[\s\S]*?)```/.exec(readFileSync('docs/reference/reviews.md', 'utf8')) ?? []
    writeFileSync(join(folder, 'front.mjs'), program)
    const change = await createChange(t)
    writeFileSync(join(folder, 'change.json'), JSON.stringify(change))
    const env = { ...process.env, GAZEWAY_URL: platform.url, GAZEWAY_KEY: platform.key }
    const { stdout } = await promisify(execFile)(process.execPath, ['front.mjs'], { cwd: folder, env })
    const { subjects, review } = openReceipt(JSON.parse(stdout), 'receipt')
    assert.deepEqual([subjects.sha256, review.coverage.seen, review.coverage.lines], [change.digest, 4, 4])
  })

  it('takes no evidence and no second decision once it is decided', async (t) => {
    const { id } = await reply<ReviewRecord>(201, 'POST', '/api/reviews', await createChange(t))
    const decision = { reviewer: 'ann@example.org', decision: 'comment' }
    const codes = await Promise.all(
      Array.from(
        { length: 4 },
        async () => (await ask(platform, 'POST', `/api/reviews/${id}/decision`, { body: decision })).status,
      ),
    )
    assert.deepEqual(codes.sort(), [200, 409, 409, 409])
    const records = [view('src/pay.ts', 1, 1, 0, 0)]
    assert.equal(await refused('POST', `/api/reviews/${id}/evidence`, { records }), 'invalid_transition')
  })

  it('is its key’s alone, and an admin’s to read', async (t) => {
    const { id } = await reply<ReviewRecord>(201, 'POST', '/api/reviews', await createChange(t))
    const records = [view('src/pay.ts', 1, 1, 0, 0)]
    const decision = { reviewer: 'eve@example.org', decision: 'approve' }
    for (const key of [other, platform.admin]) {
      assert.equal(await refused('POST', `/api/reviews/${id}/evidence`, { records }, key), 'not_found')
      assert.equal(await refused('POST', `/api/reviews/${id}/decision`, decision, key), 'not_found')
    }
    await reply(404, 'GET', `/api/reviews/${id}`, undefined, other)
    const { items } = await reply<{ items: unknown[] }>(200, 'GET', '/api/reviews', undefined, other)
    assert.deepEqual(items, [])
    const { parts } = await reply<ReviewWithParts>(200, 'GET', `/api/reviews/${id}`, undefined, platform.admin)
    assert.equal(parts.length, 3)
  })

  it('refuses a change that shows something else than it signs', async (t) => {
    const change = await createChange(t)
    const parts = change.parts.map((part) => ({ ...part, path: 'src/other.ts' }))
    assert.equal(await refused('POST', '/api/reviews', { ...change, parts }), 'validation_failed')
  })
})
