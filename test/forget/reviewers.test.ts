import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { forgetSweep } from '../../src/forget/forget.ts'
import { readChange } from '../../src/review/change.ts'
import type { Change } from '../../src/review/change-parts.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { countersignatureOf } from '../../src/review/countersignature.ts'
import { openReceipt, type Receipt } from '../../src/review/receipt.ts'
import { DecideReview, NewReview, type ReviewRecord } from '../../src/review/review-record.ts'
import { gatewayKeys } from '../../src/signing/gateway-keys.ts'
import { sshKey } from '../../src/signing/ssh-key.ts'
import { ask, type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { createRepository, numbered } from '../review/repository.ts'
import { holdersOf } from './holders-of.ts'

/** Words of two reviewers that stand in all they write. */
const [MARK, OTHER] = ['madeira', 'faroe'] as const

/** A change whose files, lines and paths have a word. */
async function changeWith(t: TestContext, mark: string): Promise<Change> {
  const repository = createRepository(t)
  repository.commitFiles({ [`src/${mark}.ts`]: numbered(20) })
  repository.write(`src/${mark}.ts`, numbered(20).replace('line 10\n', `${mark}\n`))
  repository.commit()
  return readChange(await openCheckout(repository.root), 'HEAD^', 'HEAD')
}

const seen = (mark: string) => ({
  records: [
    {
      at: new Date().toISOString(),
      dwell_ms: 400,
      source: 'ide' as const,
      env: { path: `src/${mark}.ts`, line_start: 10, line_end: 10 },
    },
  ],
})
const decision = (mark: string) => ({
  reviewer: `${mark}@example.org`,
  decision: 'approve',
  comments: [{ path: `src/${mark}.ts`, line: 10, text: `Nice, ${mark}.` }],
})

for (const engine of ['SQLite', 'PostgreSQL'])
  describe(`forgetting a reviewer on ${engine}`, () => {
    let platform: RunningPlatform
    before(async () => {
      const env = engine === 'SQLite' ? {} : { GAZEWAY_STORE: await (await sharedPostgres()).databaseWithTables() }
      platform = await startPlatform('sandbox', { withHttp: false, env })
    })
    after(() => platform.close())

    async function post<Body>(path: string, key: string, body: unknown, status = 200): Promise<Body> {
      const reply = await ask(platform, 'POST', path, { body, key })
      const said = (await reply.json()) as Body
      assert.equal(reply.status, status, JSON.stringify(said))
      return said
    }

    /** Begins a review over HTTP and reads the changed line of it. */
    async function begin(key: string, mark: string, change: Change): Promise<string> {
      const { id } = await post<ReviewRecord>('/api/reviews', key, change, 201)
      await post(`/api/reviews/${id}/evidence`, key, seen(mark))
      return id
    }

    const holders = (word: string) => holdersOf(platform.gateway.store.db, word)

    async function packsOf(callerId: string): Promise<number> {
      const { rows } = await sql<{ n: number }>`select count(*) as n from gaze_packs where session_id in
        (select session_id from gaze_sessions where caller_id = ${callerId})`.execute(platform.gateway.store.db)
      return Number(rows[0]?.n)
    }

    it('erases reviews and their evidence, also of one under way, and leaves handed-out receipts valid', async (t) => {
      const { gateway } = platform
      const create = (name: string) => gateway.keys.create({ name, scopes: ['platform'] })
      const [one, other] = [await create(MARK), await create(OTHER)]
      const changes = [await changeWith(t, MARK), await changeWith(t, OTHER)] as const
      const receipts: Receipt[] = []
      for (const [{ key }, mark, change] of [
        [one, MARK, changes[0]],
        [other, OTHER, changes[1]],
      ] as const) {
        const id = await begin(key, mark, change)
        receipts.push(await post<Receipt>(`/api/reviews/${id}/decision`, key, decision(mark)))
      }
      const open = await begin(one.key, MARK, changes[0])
      const [held, others] = [await holders(MARK), await holders(OTHER)]
      for (const table of ['reviews', 'gaze_stretches', 'gaze_dwell', 'keys'])
        assert.ok(table in held, `${table} holds it before`)
      assert.equal(await packsOf(one.record.id), 2)

      const { erased } = await post<{ erased: Record<string, number> }>(
        `/api/callers/${one.record.id}/forget`,
        platform.admin,
        {},
      )
      assert.deepEqual([erased.reviews, erased.gaze_packs], [2, 2])
      await post(`/api/reviews/${open}/decision`, one.key, decision(MARK), 401)
      const { id } = one.record
      // Requests that were accepted before the key was revoked reach the store afterwards.
      await assert.rejects(gateway.reviews.addEvidence(open, seen(MARK).records, id), { code: 'not_found' })
      const judged = DecideReview.parse(decision(MARK))
      await assert.rejects(gateway.reviews.decide(open, judged, id), { code: 'not_found' })
      assert.deepEqual(await holders(MARK), {}, 'no change, comment, receipt or place is left')
      const late = await gateway.reviews.create(NewReview.parse(changes[0]), id)
      await gateway.reviews.addEvidence(late.id, seen(MARK).records, id)
      await gateway.reviews.decide(late.id, judged, id)
      assert.ok('reviews' in (await holders(MARK)))
      await forgetSweep(gateway.store, () => new Date()).batch(500)
      assert.deepEqual(await holders(MARK), {}, 'nor of what was stored late')
      assert.equal(await packsOf(id), 0)
      assert.deepEqual(await holders(OTHER), others, 'the other reviewer keeps all')

      const keys = await gatewayKeys(gateway.loaded.dataDir, new Date())
      for (const receipt of receipts) {
        const opened = openReceipt(receipt, 'receipt')
        const countersignature = countersignatureOf(opened)
        const isOurs = keys.some(({ public_key }) =>
          countersignature?.isBy(sshKey(Buffer.from(public_key.split(' ')[1] ?? '', 'base64'))),
        )
        assert.deepEqual([isOurs, opened.review.decision, opened.review.level], [true, 'approve', 'seen'])
      }
    })
  })
