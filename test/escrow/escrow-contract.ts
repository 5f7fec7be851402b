import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { NewSettlement, Settlements } from '../../src/chain/settlements.ts'
import { GazewayError } from '../../src/errors.ts'
import { type Caller, createEscrows, EscrowList } from '../../src/escrow/escrow.ts'
import { createTally } from '../../src/escrow/escrow-tally.ts'
import { lockedRow, release } from '../../src/escrow/escrow-transfers.ts'
import type { PackedRecord } from '../../src/gaze/record-pack.ts'
import { WalletAddress } from '../../src/identity/key.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import type { Receipt } from '../../src/review/receipt.ts'
import { DecideReview, NewReview } from '../../src/review/review-record.ts'
import { createReviews } from '../../src/review/reviews.ts'
import type { Review } from '../../src/review/statement.ts'
import { gatewayKeys } from '../../src/signing/gateway-keys.ts'
import type { ReviewRow } from '../../src/store/tables/reviews-tables.ts'
import type { Task } from '../../src/tasks/tasks.ts'
import { readBalances } from '../../src/wallet/ledger/account-balances.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { turnsDuring } from '../doubles/turns.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { forgePacks } from '../gaze/stored-packs.ts'
import { numbered } from '../review/repository.ts'
import { ADMIN, caller, LEDGER, type OpenStore, type Works, worksOn } from '../tasks/setup.ts'
import { newAddress, newKey } from '../wallet/setup.ts'

const NO_CREDIT = async () => ({ creditMicros: 0, groupId: null })

/** A completed task with a locked reward. */
async function completed(works: Works, payer: Caller, agent: Caller, task: object = {}): Promise<Task> {
  const made = await works.create(payer, { reward_usd: 5, ...task })
  await works.claim(made, agent)
  return works.complete(made, agent)
}

const SIDE = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }

/** A folder for the key that a gateway signs with. */
function createDataDir(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-escrow-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A chain that pays when the test says so. */
function chainDouble(): Settlements & { owed: NewSettlement[] } {
  const owed: NewSettlement[] = []
  return {
    owed,
    mode: 'evm',
    requireRecipient(recipient) {
      if (!WalletAddress.safeParse(recipient).success)
        throw new GazewayError('validation_failed', 'recipient: not an address.', { param: 'recipient' })
    },
    async enqueue(_trx, settlement) {
      owed.push(settlement)
    },
    states: async () => new Map(),
  }
}

/** Tests of escrows, for every store engine. */
export function escrowContract(open: OpenStore): void {
  describe('an escrow', () => {
    it('is released to the agent that completed the task, once', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(5), await works.agent()]
      const task = await completed(works, payer, agent)
      const escrow_id = task.escrow_id ?? ''
      assert.equal((await readBalances(works.store, payer.id, { limitsOf: NO_CREDIT, now: new Date() })).escrow_usd, 5)
      const attestation_id = await works.attest(task.id, payer)
      const released = await works.release(payer, { escrow_id, attestation_id })
      assert.deepEqual(
        [released.status, released.recipient, released.released_at, released.gaze, released.settlement.status],
        ['released', agent.id, works.clock.now().toISOString(), { required: true, attestation_id }, 'none'],
      )
      works.clock.pass(100_000)
      assert.deepEqual(await works.release(payer, { escrow_id, attestation_id }), released)
      assert.deepEqual(await works.release(ADMIN, { escrow_id, attestation_id: 'att_other' }), released)
      assert.deepEqual([await works.left(payer), await works.left(agent)], [0, 5])
      assert.equal((await readBalances(works.store, payer.id, { limitsOf: NO_CREDIT, now: new Date() })).escrow_usd, 0)
      await assert.rejects(works.escrows.refund(escrow_id, {}, payer), {
        code: 'invalid_transition',
        message: /is released/,
      })
      await works.audit()
    })

    it('is released only for a completed task, and by no stranger', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const task = await works.create(payer, { reward_usd: 5 })
      const of = { escrow_id: task.escrow_id, attestation_id: await works.attest(task.id, payer) }
      await assert.rejects(works.release(agent, of), { code: 'forbidden', status: 403 })
      await assert.rejects(works.release(payer, of), { code: 'task_not_completed', status: 409, message: /is open/ })
      await works.claim(task, agent)
      await assert.rejects(works.release(payer, of), { code: 'task_not_completed', message: /is claimed/ })
      works.clock.pass(3600)
      await assert.rejects(works.release(payer, of), { code: 'task_not_completed', message: /is open/ })
      await assert.rejects(works.escrows.refund(of.escrow_id ?? '', {}, payer), { message: /its task is open/ })
      await works.claim(task, agent)
      await works.complete(task, agent)
      await assert.rejects(works.release(await works.agent(), of), { code: 'forbidden' })
      of.attestation_id = await works.attest(task.id, payer)
      assert.equal((await works.release(ADMIN, of)).status, 'released')
      await assert.rejects(works.release(payer, { ...of, escrow_id: `esc_${'0'.repeat(32)}` }), { code: 'not_found' })
      await works.audit()
    })

    it('stays as it is where gaze verification fails, and can be retried', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const [task, other] = [await completed(works, payer, agent), await completed(works, payer, agent)]
      const escrow_id = task.escrow_id ?? ''
      const before = await works.escrows.get(escrow_id, null)
      const refused = (message: RegExp) => ({ code: 'gaze_verification_failed', status: 403, message })
      const ofOther = await works.attest(other.id, payer)
      await assert.rejects(works.release(payer, { escrow_id, attestation_id: 'att_none' }), refused(/no such/))
      await assert.rejects(works.release(payer, { escrow_id, attestation_id: ofOther }), refused(/another task/))
      const stale = await works.attest(task.id, payer)
      works.clock.pass(901)
      await assert.rejects(works.release(payer, { escrow_id, attestation_id: stale }), refused(/901 s old/))
      const used = await works.attest(other.id, payer)
      await works.release(payer, { escrow_id: other.escrow_id, attestation_id: used })
      assert.deepEqual(await works.escrows.get(escrow_id, null), before)
      await works.release(payer, { escrow_id, attestation_id: await works.attest(task.id, payer) })
      await works.audit()
    })

    it('stays held where records of the attestation were damaged in the store, and is released by others', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const { id, escrow_id } = await completed(works, payer, agent)
      const before = await works.escrows.get(escrow_id ?? '', null)
      const attestation_id = await works.attest(id, payer)
      for (const body of [Buffer.from('damaged'), Buffer.alloc(0), Buffer.from([1, 2, 3])]) {
        await works.store.db.updateTable('gaze_packs').set({ body }).execute()
        await assert.rejects(works.release(payer, { escrow_id, attestation_id }), {
          code: 'gaze_verification_failed',
          status: 403,
          message: /were damaged in the store\. Store new gaze records for the task in another session/,
        })
      }
      assert.deepEqual(await works.escrows.get(escrow_id ?? '', null), before)
      const other = { escrow_id, attestation_id: await works.attest(id, payer) }
      assert.equal((await works.release(payer, other)).status, 'released')
      await works.audit()
    })

    it('is released at the level of evidence that its task names, plausible by default', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      /** Records of the payer after the completion, in which nothing varies. */
      const seenBy = async (task: Task, seed: number) => {
        const start = works.clock.now().toISOString()
        const records = humanStream(seed, { records: 60, start }).map((record) => ({ ...record, dwell_ms: 250 }))
        return (await works.gaze.store({ task_id: task.id, records }, payer.id)).attestation.id
      }
      const task = await completed(works, payer, agent)
      const of = { escrow_id: task.escrow_id, attestation_id: await seenBy(task, 901) }
      const before = await works.escrows.get(task.escrow_id ?? '', null)
      await assert.rejects(works.release(payer, of), {
        code: 'gaze_verification_failed',
        status: 403,
        param: 'attestation_id',
        message: /The attestation reaches the level seen; plausible is needed\. .*unlike a person in: /,
      })
      assert.deepEqual(await works.escrows.get(task.escrow_id ?? '', null), before)
      works.clock.pass(60)
      const lenient = await completed(works, payer, agent, { gaze_level: 'seen' })
      const released = { escrow_id: lenient.escrow_id, attestation_id: await seenBy(lenient, 902) }
      assert.equal((await works.release(payer, released)).status, 'released')
      await works.audit()
    })

    it('of a task with a review is released by one of its result, and by nothing else', async (t) => {
      const dataDir = createDataDir(t)
      const keys = () => gatewayKeys(dataDir, works.clock.now())
      const works: Works = worksOn(await open(t), { keys })
      const [payer, agent] = [await works.payer(15), await works.agent()]
      const { store, gaze, clock } = works
      const reviews = createReviews({ store, gaze, dataDir: () => dataDir, now: clock.now })
      const [base, head] = [
        { commit: 'a'.repeat(40), tree: 'b'.repeat(40) },
        { commit: 'c'.repeat(40), tree: 'd'.repeat(40) },
      ]
      const made = await works.create(payer, { reward_usd: 5, review: { coverage: 0.5, level: 'seen' } })
      await works.claim(made, agent)
      const early = await reviewedBy(payer.id, {})
      const named = { base: base.commit, head: head.commit, change: 'e'.repeat(64) }
      const vague = [
        { ...named, change: undefined },
        { ...named, head: null },
        { ...named, digest: 'f'.repeat(64) },
        'Done.',
        {},
      ]
      for (const result of vague)
        await assert.rejects(works.complete(made, agent, { result }), { code: 'validation_failed', param: 'result' })
      const task = await works.complete(made, agent, { result: named })
      const escrow_id = task.escrow_id ?? ''

      /** A decided review of ten lines, of which the first are seen, with 300 ms each. */
      async function reviewedBy(
        key: string,
        of: { seen?: number; change?: object; decision?: string; task_id?: string | null },
      ) {
        const { seen = 5, change = {}, decision = 'approve', task_id = made.id } = of
        const parts = hunksOf('a.ts', '', numbered(10))
        const sent = NewReview.parse({ base, head, digest: 'e'.repeat(64), parts, task_id, ...change })
        const { id } = await reviews.create(sent, key)
        const env = { path: 'a.ts', line_start: 1, line_end: seen }
        const records = [{ at: clock.now().toISOString(), dwell_ms: 300 * seen, source: 'ide' as const, env }]
        clock.pass(10)
        await reviews.addEvidence(id, records, key)
        await reviews.decide(id, DecideReview.parse({ reviewer: 'ann@example.org', decision }), key)
        return id
      }
      const refused = (message: RegExp) => ({ code: 'gaze_verification_failed', message })
      const other = await works.create(payer, { reward_usd: 5, review: {} })
      const refusals: [string, RegExp][] = [
        [await works.attest(task.id, payer), /takes a review of its result/],
        [early, /began after the completion/],
        [await reviewedBy(agent.id, {}), /Only a review that the payer began/],
        [await reviewedBy(payer.id, { seen: 4 }), /covers 4 of 10 lines; a share of 0.5 is needed/],
        [await reviewedBy(payer.id, { decision: 'comment' }), /ended with comment/],
        [await reviewedBy(payer.id, { change: { head: base } }), /does not name this change/],
        [await reviewedBy(payer.id, { change: { digest: 'f'.repeat(64) } }), /does not name this change/],
        [await reviewedBy(payer.id, { change: { head: { ...head, commit: null } } }), /does not name this change/],
        [await reviewedBy(payer.id, { task_id: other.id }), /not bound to this task/],
        [await reviewedBy(payer.id, { task_id: null }), /not bound to this task/],
      ]
      for (const [attestation_id, why] of refusals)
        await assert.rejects(works.release(payer, { escrow_id, attestation_id }), refused(why))
      const attestation_id = await reviewedBy(payer.id, {})
      clock.pass(901)
      await assert.rejects(works.release(payer, { escrow_id, attestation_id }), refused(/901 s old/))
      const released = await works.release(payer, { escrow_id, attestation_id: await reviewedBy(payer.id, {}) })
      assert.equal(released.status, 'released')
      await works.audit()
    })

    it('of a task with a review is not released by a row of it that was edited in the store', async (t) => {
      const [dataDir, otherDir] = [createDataDir(t), createDataDir(t)]
      const works: Works = worksOn(await open(t), { keys: () => gatewayKeys(dataDir, works.clock.now()) })
      const { store, gaze, clock } = works
      const [payer, agent] = [await works.payer(10), await works.agent()]
      const [base, head] = [SIDE, { ...SIDE, commit: 'c'.repeat(40) }]
      const made = await works.create(payer, { reward_usd: 5, review: { level: 'seen' } })
      await works.claim(made, agent)
      const result = { base: base.commit, head: head.commit, change: 'e'.repeat(64) }
      const task = await works.complete(made, agent, { result })
      const escrow_id = task.escrow_id ?? ''

      /** A review of ten lines, all seen or none, by the key of a gateway. */
      async function reviewedBy(key: string, of: { isRead: boolean; by?: string; more?: object }) {
        const reviews = createReviews({ store, gaze, dataDir: () => of.by ?? dataDir, now: clock.now })
        const parts = hunksOf('a.ts', '', numbered(10))
        const sent = { base, head, digest: 'e'.repeat(64), parts, task_id: made.id, ...of.more }
        const { id } = await reviews.create(NewReview.parse(sent), key)
        const env = { path: 'a.ts', line_start: 1, line_end: 10 }
        const records = [{ at: clock.now().toISOString(), dwell_ms: 3000, source: 'ide' as const, env }]
        clock.pass(10)
        if (of.isRead) await reviews.addEvidence(id, records, key)
        await reviews.decide(id, DecideReview.parse({ reviewer: 'ann@example.org', decision: 'approve' }), key)
        return id
      }
      const rowOf = (id: string) =>
        store.db.selectFrom('reviews').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      const edit = (id: string, set: Partial<ReviewRow>) =>
        store.db.updateTable('reviews').set(set).where('id', '=', id).execute()
      /** A receipt whose predicate says something else. Signatures stay. */
      const forged = (receipt: string | null, change: (review: Review) => void): string => {
        const { envelope, ...rest } = JSON.parse(receipt ?? '') as Receipt
        const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
        change(statement.predicate)
        const payload = Buffer.from(JSON.stringify(statement)).toString('base64')
        return JSON.stringify({ ...rest, envelope: { ...envelope, payload } })
      }

      const unread = await reviewedBy(payer.id, { isRead: false })
      const read = await rowOf(await reviewedBy(payer.id, { isRead: true }))
      const { receipt } = await rowOf(unread)
      const edits: Record<string, Partial<ReviewRow>> = {
        coverage: { receipt: forged(receipt, ({ coverage }) => Object.assign(coverage, { seen: 10 })) },
        'coverage and level': {
          receipt: forged(receipt, (review) =>
            Object.assign(review, { level: 'plausible', coverage: { ...review.coverage, seen: 10 } }),
          ),
        },
        evidence: { receipt: forged(receipt, ({ evidence }) => Object.assign(evidence, { coverage: 1 })) },
        'the receipt of another review': { receipt: read.receipt },
        'a receipt without a countersignature': {
          receipt: JSON.stringify({ ...JSON.parse(receipt ?? ''), observer: undefined }),
        },
        'no receipt at all': { receipt: '{}' },
      }
      const release = (attestation_id: string) => works.release(payer, { escrow_id, attestation_id })
      for (const [what, set] of Object.entries(edits)) {
        await edit(unread, set)
        await assert.rejects(release(unread), /not what a key of this/, what)
      }
      const own = await reviewedBy(agent.id, { isRead: true })
      await edit(own, { caller_id: payer.id })
      await assert.rejects(release(own), /not what a key of this/, 'the claimant’s review, made the payer’s')
      const elsewhere = await reviewedBy(payer.id, {
        isRead: true,
        more: { head: { ...SIDE, commit: 'd'.repeat(40) } },
      })
      await edit(elsewhere, { change: read.change })
      await assert.rejects(release(elsewhere), /not what a key of this/, 'a review of another change')
      const unbound = await reviewedBy(payer.id, { isRead: true, more: { task_id: null } })
      await edit(unbound, { task_id: made.id })
      await assert.rejects(release(unbound), /not what a key of this/, 'a review of no task')
      const foreign = await reviewedBy(payer.id, { isRead: true, by: otherDir })
      await assert.rejects(release(foreign), /not what a key of this/, 'signed by another gateway')
      clock.pass(901)
      await edit(read.id, { decided_at: clock.now().toISOString() })
      await assert.rejects(release(read.id), /not what a key of this/, 'an old review, made young')
      assert.equal((await works.escrows.get(escrow_id, null)).status, 'locked')
      assert.equal((await release(await reviewedBy(payer.id, { isRead: true }))).status, 'released')
      await works.audit()
    })

    it('of a task with a review is released under the terms that it was locked under, and no edited ones', async (t) => {
      const dataDir = createDataDir(t)
      const works: Works = worksOn(await open(t), { keys: () => gatewayKeys(dataDir, works.clock.now()) })
      const { store, gaze, clock } = works
      const [payer, agent] = [await works.payer(20), await works.agent()]
      const parts = hunksOf('a.ts', '', numbered(10))
      const change = { base: SIDE, head: { ...SIDE, commit: 'c'.repeat(40) }, digest: 'e'.repeat(64), parts }
      const reviews = createReviews({ store, gaze, dataDir: () => dataDir, now: clock.now })
      const delivered = async (terms: { review?: object }, parts: object = {}) => {
        const made = await works.create(payer, { reward_usd: 5, ...terms })
        await works.claim(made, agent)
        return works.complete(made, agent, { result: { change: change.digest, ...parts } })
      }
      const reviewOf = async (task_id: string, seen: number, lines = parts) => {
        const { id } = await reviews.create(NewReview.parse({ ...change, parts: lines, task_id }), payer.id)
        const env = { path: 'a.ts', line_start: 1, line_end: seen }
        const records = [{ at: clock.now().toISOString(), dwell_ms: 300 * seen, source: 'ide' as const, env }]
        clock.pass(10)
        await reviews.addEvidence(id, records, payer.id)
        await reviews.decide(id, DecideReview.parse({ reviewer: 'ann@example.org', decision: 'approve' }), payer.id)
        return id
      }
      const edit = (id: string, review: object | null) =>
        store.db
          .updateTable('tasks')
          .set({ review: review === null ? null : JSON.stringify(review) })
          .where('id', '=', id)
          .execute()
      const release = (escrow_id: string | null, attestation_id: string) =>
        works.release(payer, { escrow_id: escrow_id ?? '', attestation_id })
      const terms = { coverage: 1, level: 'seen' }
      const { id, escrow_id } = await delivered({ review: terms })
      const others = { code: 'gaze_verification_failed', message: /not the one that its reward was locked under/ }
      await edit(id, { ...terms, coverage: 0.1 })
      await assert.rejects(release(escrow_id, await reviewOf(id, 1)), others, 'for less reading')
      await edit(id, null)
      await assert.rejects(release(escrow_id, await works.attest(id, payer)), others, 'for an attestation')
      await edit(id, terms)
      assert.equal((await release(escrow_id, await reviewOf(id, 10))).status, 'released')

      const plain = await delivered({})
      await edit(plain.id, { coverage: 0, level: 'seen' })
      await assert.rejects(release(plain.escrow_id, await reviewOf(plain.id, 1)), others, 'a review for an attestation')

      const digests = parts.map(({ digest }) => ({ digest }))
      const bound = await delivered({ review: terms }, { parts: digests })
      const less = hunksOf('a.ts', '', numbered(1))
      const foreign = release(bound.escrow_id, await reviewOf(bound.id, 1, less))
      await assert.rejects(foreign, { message: /does not name this change/ }, 'a line in the place of all')
      assert.equal((await release(bound.escrow_id, await reviewOf(bound.id, 10))).status, 'released')
      await works.audit()
    })

    it('is not released with an attestation that is below the score, forged, or used for the claim', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const made = await works.create(payer, { reward_usd: 5, gaze_required: true })
      const used = await works.attest(made.id, agent)
      await works.claim(made, agent, { attestation_id: used })
      const task = await works.complete(made, agent)
      const escrow_id = task.escrow_id ?? ''
      const before = await works.escrows.get(escrow_id, null)

      const start = works.clock.now().toISOString()
      const constant = humanStream(1, { records: 120, start }).map((record) => ({ ...record, dwell_ms: 250 }))
      const poor = await works.gaze.store({ task_id: task.id, records: constant }, payer.id)
      assert.equal(poor.attestation.status, 'failed')
      const forged = await works.attest(task.id, payer)
      const { session_id } = await works.store.db
        .selectFrom('attestations')
        .select('session_id')
        .where('id', '=', forged)
        .executeTakeFirstOrThrow()
      const unsure = (record: PackedRecord) => ({ ...record, tensor: { ...record.tensor, confidence: 0.1 } })
      await forgePacks(works.store, (pack) => ({ ...pack, records: pack.records.map(unsure) }), session_id)
      const cases = [
        [used, /used before/],
        [poor.attestation.id, /Its score is [\d.]+; 0\.6 or more is needed/],
        [forged, /does not match the records/],
      ] as const
      for (const [attestation_id, message] of cases)
        await assert.rejects(works.release(payer, { escrow_id, attestation_id }), {
          code: 'gaze_verification_failed',
          status: 403,
          param: 'attestation_id',
          message,
        })
      assert.deepEqual(await works.escrows.get(escrow_id, null), before)
      assert.equal(await works.left(agent), 0)
      await works.audit()
    })

    it('is reported to a release that finds its attestation used by another one meanwhile', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const task = await completed(works, payer, agent)
      const of = { escrow_id: task.escrow_id ?? '', attestation_id: await works.attest(task.id, payer) }
      const { verifier } = works.gaze
      const slow = createEscrows({
        store: works.store,
        now: works.clock.now,
        limitsOf: async () => ({ creditMicros: 0, groupId: null }),
        settlements: LEDGER,
        verifier: {
          ...verifier,
          async check(db, check) {
            await works.release(payer, of)
            return verifier.check(db, check)
          },
        },
        token: () => 'pathUSD',
      })
      assert.deepEqual(await slow.release(of, payer), await works.escrows.get(of.escrow_id, null))
      assert.equal(await works.left(agent), 5)
      await works.audit()
    })

    it('pays the recipient that was named: a key, a wallet, or the key that a wallet is bound to', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const [wallet, bound] = [newAddress(), newAddress().replace('0x0', '0xA')]
      const holder = await newKey(works.store, { wallet: bound })
      const cases: Array<[given: string, account: string]> = [
        [payer.id, payer.id],
        [wallet, wallet],
        [bound, holder],
      ]
      for (const [recipient, account] of cases) {
        const task = await completed(works, payer, agent, { recipient })
        const before = await works.left(account)
        const { status } = await works.release(payer, {
          escrow_id: task.escrow_id,
          attestation_id: await works.attest(task.id, payer),
        })
        assert.equal(status, 'released')
        assert.equal(await works.left(account), before + 5)
      }
      await works.audit()
    })

    it('is within reach of a key that is bound to the wallet after it was paid, or as it is', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, wallet] = [await works.payer(), await works.agent(), newAddress()]
      const [paid, late] = [
        await completed(works, payer, agent, { recipient: wallet }),
        await completed(works, payer, agent, { recipient: wallet }),
      ]
      await works.release(payer, { escrow_id: paid.escrow_id, attestation_id: await works.attest(paid.id, payer) })
      assert.equal(await works.left(wallet), 5)
      const holder = await newKey(works.store, { wallet })
      assert.deepEqual([await works.left(wallet), await works.left(holder)], [0, 5])
      const found = { recipient: wallet, account: wallet }
      const at = works.clock.now().toISOString()
      const of = { payee: found, attestationId: await works.attest(late.id, payer), tokenOf: () => 'pathUSD', at }
      await works.store.write(async (trx) => {
        const tally = createTally()
        await works.gaze.verifier.use(trx, { ...of, usedBy: `release ${late.escrow_id}` })
        await release(trx, (await lockedRow(trx, late.escrow_id ?? '')) ?? assert.fail(), of, tally)
        await tally.write(trx)
      })
      assert.deepEqual([await works.left(wallet), await works.left(holder)], [0, 10])
      await works.audit()
    })

    it('names no revoked key, but pays one that was revoked after', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, third] = [await works.payer(), await works.agent(), await works.agent()]
      const named = await completed(works, payer, agent, { recipient: third.id })
      const claimed = await completed(works, payer, agent)
      const revoked_at = works.clock.now().toISOString()
      await works.store.db.updateTable('keys').set({ revoked_at }).where('id', 'in', [agent.id, third.id]).execute()
      for (const { id, escrow_id } of [named, claimed])
        await works.release(payer, { escrow_id, attestation_id: await works.attest(id, payer) })
      assert.deepEqual([await works.left(agent), await works.left(third)], [5, 5])
      const refused = { code: 'validation_failed', param: 'recipient' }
      await assert.rejects(works.create(payer, { reward_usd: 1, recipient: third.id }), refused)
      const deposit = { caller_id: third.id, amount_usd: 1, reference: 'late' }
      await assert.rejects(makeDeposit(works.store, deposit, works.clock.now()), { code: 'not_found' })
      await works.audit()
    })

    it('is of the same moment as the balance of its payer', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer(100)
      let made = 0
      const making = (async () => {
        for (; made < 50; made++) {
          const { id } = await works.create(payer, { reward_usd: 7 })
          await works.tasks.cancel(id, payer)
        }
      })()
      const limits = async () => ({ creditMicros: 0, groupId: null })
      for (let reads = 0; made < 50 || reads === 0; reads++) {
        const { available_usd, held_usd, escrow_usd } = await readBalances(works.store, payer.id, {
          limitsOf: limits,
          now: new Date(),
        })
        assert.equal(available_usd + held_usd + escrow_usd, 100)
      }
      await making
    })

    it('pays its recipient, or else the key that completed the task, never one named by the release', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, third] = [await works.payer(), await works.agent(), await works.agent()]
      const nobody = `key_${'0'.repeat(32)}`
      const unknown = { code: 'validation_failed', param: 'recipient' }
      await assert.rejects(works.create(payer, { reward_usd: 1, recipient: nobody }), unknown)
      const free = await works.create(payer, { reward_usd: 5 })
      await works.claim(free, agent)
      assert.equal((await works.escrows.get(free.escrow_id ?? '', null)).recipient, null)
      await works.complete(free, agent)
      assert.equal((await works.escrows.get(free.escrow_id ?? '', null)).recipient, agent.id)
      const named = await completed(works, payer, agent, { recipient: third.id })
      for (const [task, mine] of [
        [free, agent],
        [named, third],
      ] as const) {
        const of = { escrow_id: task.escrow_id, attestation_id: await works.attest(task.id, payer) }
        for (const recipient of [payer.id, newAddress(), nobody])
          for (const by of [payer, ADMIN])
            await assert.rejects(works.release(by, { ...of, recipient }), {
              code: 'recipient_fixed',
              status: 409,
              param: 'recipient',
              message: new RegExp(`pays ${mine.id}\\.`),
            })
        assert.equal((await works.release(payer, { ...of, recipient: mine.id })).recipient, mine.id)
        assert.equal(await works.left(mine), 5)
      }
      await works.audit()
    })

    it('is released by whom it pays, too, once the task is completed', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, wallet] = [await works.payer(), await works.agent(), newAddress()]
      const holder = { ...(await works.agent()), wallet }
      const task = await works.create(payer, { reward_usd: 5 })
      await works.claim(task, agent)
      const of = { escrow_id: task.escrow_id, attestation_id: await works.attest(task.id, agent) }
      await assert.rejects(works.release(agent, of), { code: 'forbidden', status: 403 })
      works.clock.pass(60)
      await works.complete(task, agent)
      await assert.rejects(works.release(holder, of), { code: 'forbidden' })
      assert.equal((await works.release(agent, of)).status, 'released')
      assert.equal((await works.release(agent, of)).status, 'released')
      const named = await completed(works, payer, agent, { recipient: wallet })
      const forWallet = { escrow_id: named.escrow_id, attestation_id: await works.attest(named.id, payer) }
      await assert.rejects(works.release(agent, forWallet), { code: 'forbidden' })
      assert.equal((await works.release(holder, forWallet)).status, 'released')
      await works.audit()
    })

    it('pays the key that completed the task also where it is locked only then', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const task = await completed(works, payer, agent, { reward_usd: 0 })
      const { id, recipient } = await works.lock(payer, { task_id: task.id, amount_usd: 5 })
      assert.equal(recipient, agent.id)
      const of = { escrow_id: id, attestation_id: await works.attest(task.id, payer) }
      await assert.rejects(works.release(payer, { ...of, recipient: payer.id }), { code: 'recipient_fixed' })
      await works.release(payer, of)
      assert.equal(await works.left(agent), 5)
    })

    it('is released for gaze of the claimant before the completion, or of the payer after it, alone', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, third] = [await works.payer(), await works.agent(), await works.agent()]
      const task = await works.create(payer, { reward_usd: 5 })
      const beforeClaim = await works.attest(task.id, agent)
      works.clock.pass(60)
      await works.claim(task, agent)
      const working = await works.attest(task.id, agent)
      const tooEarly = await works.attest(task.id, payer)
      works.clock.pass(60)
      await works.complete(task, agent)
      works.clock.pass(1)
      const cases: Array<[attestation: string, message: RegExp]> = [
        [beforeClaim, /^Gaze verification failed\. 0 of its 60 newest records count; only records that the claimant/],
        [tooEarly, /^Gaze verification failed\. 0 of its 60 newest records count; only records that the payer/],
        [await works.attest(task.id, agent), /0 of its 60 newest records count; only records that the claimant/],
        [await works.attest(task.id, third), /stored by someone else; only records that the claimant.*, or.*the payer/],
        [await works.attest(task.id, ADMIN), /stored by someone else/],
      ]
      const escrow_id = task.escrow_id
      for (const [attestation_id, message] of cases)
        for (const by of [payer, agent, ADMIN])
          await assert.rejects(works.release(by, { escrow_id, attestation_id }), {
            code: 'gaze_verification_failed',
            status: 403,
            message,
          })
      assert.equal((await works.release(payer, { escrow_id, attestation_id: working })).status, 'released')

      const other = await completed(works, payer, agent)
      works.clock.pass(1)
      const reviewed = { escrow_id: other.escrow_id, attestation_id: await works.attest(other.id, payer) }
      assert.equal((await works.release(agent, reviewed)).status, 'released')
      await works.audit()
    })

    it('expires when its time is over, for every reader; then it can be refunded', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(20), await works.agent()]
      const task = await completed(works, payer, agent, { ttl_seconds: 60 })
      const open2 = await works.create(payer, { reward_usd: 2, ttl_seconds: 60 })
      const id = task.escrow_id ?? ''
      await assert.rejects(works.escrows.refund(id, {}, payer), {
        code: 'invalid_transition',
        message: /is locked and its task is completed/,
      })
      works.clock.pass(59.999)
      assert.equal((await works.escrows.get(id, null)).status, 'locked')
      works.clock.pass(0.001)
      assert.equal((await works.escrows.get(id, null)).status, 'expired')
      await assert.rejects(
        works.release(payer, { escrow_id: id, attestation_id: await works.attest(task.id, payer) }),
        {
          code: 'invalid_transition',
          message: /is expired/,
        },
      )
      assert.equal((await works.tasks.stats(null)).reward_usd.locked, 7)
      const refunded = await works.escrows.refund(id, { reason: 'too late' }, payer)
      assert.deepEqual([refunded.status, refunded.reason], ['refunded', 'too late'])
      assert.deepEqual(await works.escrows.refund(id, {}, payer), refunded)
      assert.equal((await works.escrows.list(EscrowList.parse({ status: 'expired' }), null)).total, 1)
      assert.equal((await works.escrows.list(EscrowList.parse({ status: 'locked' }), null)).items.length, 0)
      await works.tasks.cancel(open2.id, payer)
      assert.equal(await works.left(payer), 20)
      await works.audit()
    })

    it('is refunded by its payer or an admin alone, and not while the task may be done', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const { escrow_id } = await works.create(payer, { reward_usd: 5 })
      await assert.rejects(works.escrows.refund(escrow_id ?? '', {}, agent), { code: 'forbidden' })
      await assert.rejects(works.escrows.refund(escrow_id ?? '', {}, payer), {
        code: 'invalid_transition',
        message: /its task is open/,
      })
      await assert.rejects(works.escrows.refund(`esc_${'0'.repeat(32)}`, {}, payer), { code: 'not_found' })
    })

    it('is moved to expired in the background', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer()
      for (let i = 0; i < 3; i++) await works.create(payer, { reward_usd: 1, ttl_seconds: 60 + i })
      works.clock.pass(61)
      assert.equal(await works.escrows.expire(10), 2)
      assert.equal(await works.escrows.expire(10), 0)
      await works.audit()
    })

    it('lets others have their turn while a list moves many whose time is over', async (t) => {
      const works = worksOn(await open(t))
      const { escrow_id } = await works.create(await works.payer(), { reward_usd: 1, ttl_seconds: 60 })
      await works.store.write(async (trx) => {
        const of = trx.selectFrom('escrows').selectAll().where('id', '=', escrow_id)
        const row = await of.executeTakeFirstOrThrow()
        for (let i = 1; i <= 1_000; i++)
          await trx
            .insertInto('escrows')
            .values({ ...row, id: `esc_${i}`, task_id: `task_${i}` })
            .execute()
        const tally = createTally()
        tally.add('escrow_locked', 1_000)
        await tally.write(trx)
      })
      works.clock.pass(61)
      const list = () => works.escrows.list(EscrowList.parse({ status: 'expired' }), null)
      const turns = await turnsDuring(list)
      assert.ok(turns >= 2, `${turns} turns for two batches and a rest`)
      assert.equal((await list()).total, 1_001)
    })

    it('is listed by what became of its money, and by its payer, a page at a time', async (t) => {
      const works = worksOn(await open(t))
      const [payer, other, agent] = [await works.payer(), await works.payer(), await works.agent()]
      const made: Record<string, string[]> = { live: [], paid: [], refunded: [] }
      for (let i = 0; i < 9; i++) {
        const owner = i % 2 ? payer : other
        const fate = ['live', 'paid', 'refunded'][i % 3] as string
        const of = { reward_usd: 1, ttl_seconds: 60 + i * 60 }
        const task = fate === 'paid' ? await completed(works, owner, agent, of) : await works.create(owner, of)
        const { id, escrow_id } = task
        made[fate]?.unshift(escrow_id ?? '')
        if (fate === 'refunded') await works.tasks.cancel(id, owner)
        if (fate === 'paid') await works.release(owner, { escrow_id, attestation_id: await works.attest(id, owner) })
      }
      works.clock.pass(61)
      for (const [status, ids] of Object.entries(made)) {
        const seen: string[] = []
        let cursor: string | null | undefined
        do {
          const page = await works.escrows.list(EscrowList.parse({ status, limit: 2, ...(cursor && { cursor }) }), null)
          assert.equal(page.total, ids.length, status)
          seen.push(...page.items.map(({ id }) => id))
          cursor = page.next_cursor
        } while (cursor)
        assert.deepEqual(seen, ids, status)
        const skipped = await works.escrows.list(EscrowList.parse({ status, offset: 1 }), null)
        assert.deepEqual(
          skipped.items.map(({ id }) => id),
          ids.slice(1),
        )
        const own = await works.escrows.list(EscrowList.parse({ status, payer: payer.id }), null)
        assert.ok(own.items.every((escrow) => escrow.payer === payer.id && ids.includes(escrow.id)))
        const others = await works.escrows.list(EscrowList.parse({ status, payer: other.id }), null)
        assert.equal(own.total + others.total, ids.length)
      }
    })

    it('can be locked for a task that has none; one at a time, by its creator or an admin', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(10), await works.payer(10)]
      const task = await works.create(payer)
      const of = { task_id: task.id, amount_usd: 4, ttl_seconds: 60 }
      await assert.rejects(works.lock(agent, of), { code: 'forbidden' })
      await assert.rejects(works.lock(payer, { ...of, amount_usd: 11 }), { code: 'insufficient_credit' })
      const locked = await works.lock(payer, of)
      assert.deepEqual(
        [locked.status, locked.payer, locked.recipient, locked.token],
        ['locked', payer.id, null, 'pathUSD'],
      )
      const rewarded = await works.tasks.get(task.id, null)
      assert.deepEqual([rewarded.escrow_id, rewarded.reward_usd], [locked.id, 4])
      await assert.rejects(works.lock(payer, of), {
        code: 'conflict',
        status: 409,
        message: /is locked; a task has one/,
      })
      works.clock.pass(60)
      await assert.rejects(works.lock(payer, of), { code: 'conflict', message: /is expired; refund it/ })
      await works.escrows.refund(locked.id, {}, payer)
      const again = await works.lock(payer, of)
      assert.equal((await works.escrows.list(EscrowList.parse({ task_id: task.id }), null)).total, 2)
      await works.tasks.cancel(task.id, payer)
      assert.equal((await works.escrows.get(again.id, null)).status, 'refunded')
      await assert.rejects(works.lock(payer, of), { code: 'invalid_transition', message: /is cancelled/ })
      await assert.rejects(works.lock(payer, { ...of, task_id: `task_${'0'.repeat(32)}` }), { code: 'not_found' })
      await works.audit()
    })

    it('is the last of its task once it was released: another would pay twice', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(10), await works.agent()]
      const task = await completed(works, payer, agent)
      const escrow_id = task.escrow_id ?? ''
      await works.release(payer, { escrow_id, attestation_id: await works.attest(task.id, payer) })
      const of = { task_id: task.id, amount_usd: 1, ttl_seconds: 60 }
      for (const caller of [payer, ADMIN])
        await assert.rejects(works.lock(caller, of), {
          code: 'conflict',
          message: new RegExp(`${escrow_id}, that is released: the task is already paid`),
        })
      assert.equal((await works.tasks.get(task.id, null)).escrow_id, escrow_id)
      await works.audit()
    })

    it('is locked once, however many try at once', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer(100)
      const task = await works.create(payer)
      const tries = await Promise.allSettled(
        Array.from({ length: 8 }, () => works.lock(payer, { task_id: task.id, amount_usd: 10 })),
      )
      assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal(await works.left(payer), 90)
      await works.audit()
    })

    it('has one winner of release, refund and expiry at once', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(100), await works.agent()]
      for (let round = 0; round < 4; round++) {
        const task = await completed(works, payer, agent, { ttl_seconds: 60 })
        const escrow_id = task.escrow_id ?? ''
        const attestations = [await works.attest(task.id, payer), await works.attest(task.id, payer)]
        if (round % 2 === 1) works.clock.pass(60)
        const moves = await Promise.allSettled([
          works.escrows.refund(escrow_id, {}, payer),
          works.release(payer, { escrow_id, attestation_id: attestations[0] }),
          works.escrows.expire(10),
          works.release(ADMIN, { escrow_id, attestation_id: attestations[1] }),
          works.escrows.refund(escrow_id, {}, ADMIN),
        ])
        const { status } = await works.escrows.get(escrow_id, null)
        assert.equal(status, round % 2 === 1 ? 'refunded' : 'released')
        for (const move of moves)
          if (move.status === 'rejected') {
            assert.equal(move.reason.code, 'invalid_transition')
            assert.match(move.reason.message, /is (locked|expired|released|refunded)/)
          }
        await works.audit()
      }
    })

    it('has one winner of an attestation that is used for two at once', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(100), await works.agent()]
      const task = await completed(works, payer, agent)
      const of = { escrow_id: task.escrow_id, attestation_id: await works.attest(task.id, payer) }
      const replies = await Promise.all(Array.from({ length: 8 }, () => works.release(payer, of)))
      for (const reply of replies) assert.deepEqual(reply, replies[0])
      assert.equal(await works.left(agent), 5)
      await works.audit()
    })
  })

  describe('an escrow that settles on a chain', () => {
    it('is paid to an address, and its money waits until the chain has paid', async (t) => {
      const chain = chainDouble()
      const works = worksOn(await open(t), { settlements: chain })
      const [payer, agent, recipient] = [await works.payer(10), await works.agent(), newAddress()]
      const notAnAddress = { code: 'validation_failed', status: 422, param: 'recipient' }
      await assert.rejects(works.create(payer, { reward_usd: 5, recipient: agent.id }), notAnAddress)
      const task = await completed(works, payer, agent, { recipient })
      assert.equal(task.reward_settlement, 'evm')
      const of = { escrow_id: task.escrow_id ?? '', attestation_id: await works.attest(task.id, payer) }
      const { settlement, token } = await works.escrows.get(of.escrow_id, null)
      assert.deepEqual([settlement.mode, token], ['evm', 'USDT'])
      const released = await works.release(payer, of)
      assert.deepEqual([released.status, released.recipient], ['released', recipient])
      await works.release(payer, { ...of, recipient })
      assert.deepEqual(
        chain.owed.map(({ id, recipient, micros }) => [id, recipient, micros]),
        [[of.escrow_id, recipient, 5_000_000]],
      )
      assert.equal((await balances(works)).settling, 5_000_000)
      await works.audit()

      const at = works.clock.now().toISOString()
      for (let i = 0; i < 2; i++) await works.store.write((trx) => works.escrows.settled(trx, { id: of.escrow_id, at }))
      const settled = await works.escrows.get(of.escrow_id, null)
      assert.deepEqual([settled.status, settled.settled_at], ['settled', at])
      assert.deepEqual(await balances(works), { caller: 5_000_000, deposits: -5_000_000, escrow: 0, settling: 0 })
      assert.equal((await works.release(payer, of)).status, 'settled')
      await works.audit()
    })

    it('is paid to the wallet of the key that completed the task', async (t) => {
      const chain = chainDouble()
      const works = worksOn(await open(t), { settlements: chain })
      const wallet = newAddress()
      const holder = { ...caller(await newKey(works.store, { wallet }), 'platform'), wallet }
      const payer = await works.payer(10)
      const task = await completed(works, payer, holder)
      const of = { escrow_id: task.escrow_id, attestation_id: await works.attest(task.id, payer) }
      assert.equal((await works.release(payer, { ...of, recipient: wallet })).recipient, wallet)
      assert.equal((await works.release(holder, of)).status, 'released')
      assert.deepEqual(
        chain.owed.map(({ recipient }) => recipient),
        [wallet],
      )
    })

    it('is paid in the ledger to a key without a wallet', async (t) => {
      const chain = chainDouble()
      const works = worksOn(await open(t), { settlements: chain })
      const [payer, agent] = [await works.payer(10), await works.agent()]
      const task = await completed(works, payer, agent)
      const of = { escrow_id: task.escrow_id, attestation_id: await works.attest(task.id, payer) }
      const released = await works.release(payer, of)
      assert.deepEqual([released.recipient, released.settlement.mode, released.token], [agent.id, 'ledger', 'pathUSD'])
      assert.deepEqual([chain.owed, await works.left(agent)], [[], 5])
      await works.audit()
    })

    it('pays out only deposited money; a reward that was locked on credit stays in the ledger', async (t) => {
      const chain = chainDouble()
      const works = worksOn(await open(t), { settlements: chain })
      const [payerWallet, workerWallet] = [newAddress(), newAddress()]
      const [payer, worker] = [
        { ...(await works.payer(3, { credit_limit_usd: 100, wallet: payerWallet })), wallet: payerWallet },
        { ...(await works.payer(0, { wallet: workerWallet })), wallet: workerWallet },
      ]
      async function paid(from: Caller, to: Caller, reward_usd: number) {
        const task = await completed(works, from, to, { reward_usd })
        const locked = await works.escrows.get(task.escrow_id ?? '', null)
        const of = { escrow_id: task.escrow_id, attestation_id: await works.attest(task.id, from) }
        const { settlement } = await works.release(from, of)
        assert.equal(settlement.mode, locked.settlement.mode)
        assert.equal(task.reward_settlement, locked.settlement.mode)
        return settlement.mode
      }
      // 2 of the 3 USD that were deposited, then the third with credit, then credit alone.
      assert.equal(await paid(payer, payer, 2), 'evm')
      assert.equal(await paid(payer, worker, 6), 'ledger')
      assert.equal(await paid(payer, worker, 4), 'ledger')
      assert.equal(await works.left(worker), 10)
      // Of the 10 USD that the worker has, one was deposited.
      assert.equal(await paid(worker, payer, 1), 'evm')
      assert.equal(await paid(worker, payer, 1), 'ledger')
      const repaid = { caller_id: payer.id, amount_usd: 20, reference: 'repaid' }
      await makeDeposit(works.store, repaid, works.clock.now())
      assert.equal(await paid(payer, worker, 12), 'evm')
      assert.equal(
        chain.owed.reduce((sum, { micros }) => sum + micros, 0),
        15_000_000,
      )
      await works.audit()
    })

    it('was locked on credit for good, also where deposits come before it is released, and gives credit back', async (t) => {
      const chain = chainDouble()
      const works = worksOn(await open(t), { settlements: chain })
      const wallet = newAddress()
      const payer = { ...(await works.payer(0, { credit_limit_usd: 10, wallet })), wallet }
      const [kept, cancelled] = [await completed(works, payer, payer), await works.create(payer, { reward_usd: 5 })]
      await makeDeposit(works.store, { caller_id: payer.id, amount_usd: 7, reference: 'late' }, works.clock.now())
      await works.tasks.cancel(cancelled.id, payer)
      const of = { escrow_id: kept.escrow_id, attestation_id: await works.attest(kept.id, payer) }
      assert.equal((await works.release(payer, of)).settlement.mode, 'ledger')
      assert.equal(await works.left(payer), 7)
      const modes = []
      for (const reward_usd of [7, 1]) modes.push((await works.create(payer, { reward_usd })).reward_settlement)
      assert.deepEqual([modes, chain.owed], [['evm', 'ledger'], []])
      await works.audit()
    })

    it('is locked by many at once from deposits that reach for some', async (t) => {
      const works = worksOn(await open(t), { settlements: chainDouble() })
      const payer = await works.payer(5, { credit_limit_usd: 100 })
      const made = await Promise.all(Array.from({ length: 12 }, () => works.create(payer, { reward_usd: 1 })))
      assert.equal(made.filter(({ reward_settlement }) => reward_settlement === 'evm').length, 5)
      await works.audit()
    })
  })

  describe('what escrows and the ledger say', () => {
    it('is compared: a balance or a status that was changed shows', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const held = await works.create(payer, { reward_usd: 5 })
      const paid = await completed(works, payer, agent)
      assert.deepEqual(await works.escrows.verify(), [])
      const { db } = works.store
      await db
        .updateTable('ledger_accounts')
        .set({ balance_micros: 1 })
        .where('id', '=', `escrow:${held.escrow_id}`)
        .execute()
      await db.updateTable('escrows').set({ status: 'released' }).where('task_id', '=', paid.id).execute()
      assert.deepEqual(await works.escrows.verify(), [
        `${held.escrow_id}: its account holds 1, not 5000000 micro-dollars.`,
        `escrow:${paid.escrow_id}: its account holds 5000000, not 0 micro-dollars.`,
        `${paid.escrow_id}: it is released, but no attestation was used for it.`,
      ])
    })

    it('is compared with the uses of attestations, either way', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const [one, two] = [await completed(works, payer, agent), await completed(works, payer, agent)]
      const used = await works.attest(one.id, payer)
      await works.release(payer, { escrow_id: one.escrow_id, attestation_id: used })
      await works.audit()
      const point = (usedBy: string) =>
        works.store.db
          .updateTable('attestation_uses')
          .set({ used_by: usedBy })
          .where('attestation_id', '=', used)
          .execute()
      await point(`release ${two.escrow_id}`)
      assert.deepEqual(await works.escrows.verify(), [
        `${one.escrow_id}: it is released, but no attestation was used for it.`,
        `${used}: it was used for "release ${two.escrow_id}", which did not happen with it.`,
      ])
      await point(`release ${one.escrow_id}`)
      await works.audit()
    })
  })
}

/** Balances of the ledger's accounts, by kind. */
async function balances({ store }: Works): Promise<Record<string, number>> {
  const rows = await store.db.selectFrom('ledger_accounts').select(['kind', 'balance_micros']).execute()
  const sums: Record<string, number> = {}
  for (const { kind, balance_micros } of rows) sums[kind] = (sums[kind] ?? 0) + balance_micros
  return sums
}
