import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTally } from '../../src/escrow/escrow-tally.ts'
import { NewTask, type Task, TaskList } from '../../src/tasks/tasks.ts'
import { turnsDuring } from '../doubles/turns.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { ADMIN, type OpenStore, worksOn } from './setup.ts'

/** Tests of tasks, for every store engine. */
export function tasksContract(open: OpenStore): void {
  describe('a task', () => {
    it('locks its reward when it is created, and shows its fields', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer(5)
      const task = await works.create(payer, { reward_usd: 1.25, capabilities: ['ts', 'ts', 'sql'], description: 'x' })
      const { id, escrow_id, created_at, ...rest } = task
      assert.deepEqual(rest, {
        title: 'Do it',
        description: 'x',
        reward_usd: 1.25,
        capabilities: ['ts', 'sql'],
        status: 'open',
        creator: payer.id,
        agent: null,
        claimed_by: null,
        result: null,
        gaze_required: false,
        gaze_level: null,
        review: null,
        depends_on: [],
        swarm_id: null,
        lease_expires_at: null,
        claimed_at: null,
        completed_at: null,
        reward_expires_at: '2026-11-22T08:00:00.000Z',
        reward_settlement: 'ledger',
        updated_at: created_at,
      })
      assert.deepEqual(await works.tasks.get(id, null), task)
      const escrow = await works.escrows.get(escrow_id ?? '', null)
      assert.equal(escrow.task_id, id)
      assert.equal(escrow.status, 'locked')
      assert.equal(await works.left(payer), 3.75)
      await works.audit()
    })

    it('is not made where the credit or the daily budget does not reach', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer(1)
      await assert.rejects(works.create(payer, { reward_usd: 1.000001 }), { code: 'insufficient_credit', status: 402 })
      const limited = await works.payer(10, { budgets: [{ usd: 2, per: 'day' }] })
      await works.create(limited, { reward_usd: 1.5 })
      await assert.rejects(works.create(limited, { reward_usd: 0.6 }), { code: 'budget_reached' })
      assert.equal((await works.tasks.stats(null)).total, 1)
      assert.equal(await works.left(payer), 1)
      assert.equal(await works.left(limited), 8.5)
      await works.audit()
    })

    it('returns its share of a daily budget with its refund', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer(10, { budgets: [{ usd: 2, per: 'day' }] })
      const task = await works.create(payer, { reward_usd: 2 })
      await works.tasks.cancel(task.id, payer)
      await works.create(payer, { reward_usd: 2 })
      await works.audit()
    })

    it('is claimed by one of sixteen, the others hear that it is claimed', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer()
      const agents = await Promise.all(Array.from({ length: 16 }, () => works.agent()))
      const task = await works.create(payer, { reward_usd: 1, capabilities: ['c'] })
      const claims = await Promise.allSettled(
        agents.map((agent, i) => works.claim(task, agent, { agent: `agent ${i}` })),
      )
      const won = claims.filter((claim) => claim.status === 'fulfilled')
      assert.equal(won.length, 1)
      for (const claim of claims)
        if (claim.status === 'rejected') {
          assert.equal(claim.reason.code, 'invalid_transition')
          assert.match(claim.reason.message, /is claimed/)
        }
      const { claim_token, ...claimed } = won[0]?.value ?? assert.fail('nobody won')
      assert.match(claim_token, /^[\w-]{43}$/)
      assert.deepEqual(await works.tasks.get(task.id, null), claimed)
      const stored = await works.store.db.selectFrom('tasks').selectAll().executeTakeFirstOrThrow()
      assert.doesNotMatch(JSON.stringify(stored), new RegExp(claim_token))
      await works.audit()
    })

    it('is completed once, by its claimant alone', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, stranger] = [await works.payer(), await works.agent(), await works.agent()]
      const task = await works.create(payer, { reward_usd: 1 })
      await assert.rejects(works.complete(task, agent), { code: 'invalid_transition', message: /is open/ })
      const { claim_token } = await works.claim(task, agent)
      await assert.rejects(works.complete(task, stranger, { claim_token }), { code: 'forbidden', status: 403 })
      await assert.rejects(works.complete(task, agent, { agent: 'bob' }), { code: 'forbidden' })
      await assert.rejects(works.complete(task, agent, { claim_token: 'x'.repeat(43) }), { code: 'forbidden' })
      await assert.rejects(works.complete(task, ADMIN, { agent: 'bob' }), { code: 'forbidden' })
      const result = { files: ['a.ts'], note: '\u0000 é' }
      const done = await works.complete(task, agent, { claim_token, result })
      assert.equal(done.status, 'completed')
      assert.deepEqual(done.result, result)
      assert.equal(done.agent, 'ada')
      await assert.rejects(works.complete(task, agent, { claim_token, result }), {
        code: 'invalid_transition',
        status: 409,
        message: /is completed/,
      })
      await assert.rejects(works.claim(task, agent), { code: 'invalid_transition', message: /is completed/ })
      await assert.rejects(works.tasks.cancel(task.id, payer), { code: 'invalid_transition', message: /is completed/ })
      await works.audit()
    })

    it('can be completed without the token, and by an admin for the agent', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const [one, two] = [await works.create(payer), await works.create(payer)]
      await works.claim(one, agent)
      await works.claim(two, agent)
      assert.equal((await works.complete(one, agent)).status, 'completed')
      assert.equal((await works.complete(two, ADMIN)).status, 'completed')
    })

    it('is kept alive by the name of its agent where the token was lost, for its key and admins alone', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, other] = [await works.payer(), await works.agent(), await works.agent()]
      const task = await works.create(payer)
      const { claim_token } = await works.claim(task, agent, { lease_seconds: 60 })
      const beat = (of: { agent?: string; claim_token?: string }, by = agent) => works.tasks.heartbeat(task.id, of, by)
      works.clock.pass(30)
      assert.equal((await beat({ agent: 'ada' })).lease_expires_at, '2026-11-21T08:01:30.000Z')
      works.clock.pass(30)
      assert.equal((await beat({ agent: 'ada' }, ADMIN)).lease_expires_at, '2026-11-21T08:02:00.000Z')
      await beat({ agent: 'ada', claim_token })
      await assert.rejects(beat({ agent: 'ada' }, other), { code: 'forbidden' })
      await assert.rejects(beat({ agent: 'bob' }), { code: 'forbidden' })
      await assert.rejects(beat({ agent: 'bob', claim_token }), { code: 'forbidden' })
      await assert.rejects(beat({ agent: 'ada', claim_token: 'x'.repeat(43) }), { code: 'forbidden' })
      works.clock.pass(60)
      await assert.rejects(beat({ agent: 'ada' }), { code: 'invalid_transition', message: /is open/ })
    })

    it('keeps the longer lease where signs of life overtake each other', async (t) => {
      const works = worksOn(await open(t))
      const task = await works.create(await works.payer())
      const agent = await works.agent()
      const { claim_token } = await works.claim(task, agent, { lease_seconds: 60 })
      works.clock.pass(30)
      await works.tasks.heartbeat(task.id, { claim_token }, agent)
      works.clock.pass(-20)
      const late = await works.tasks.heartbeat(task.id, { claim_token }, agent)
      assert.equal(late.lease_expires_at, '2026-11-21T08:01:30.000Z')
    })

    it('opens again when its lease expires, and the old token is invalid', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, other] = [await works.payer(), await works.agent(), await works.agent()]
      const task = await works.create(payer, { capabilities: ['c'] })
      const { claim_token } = await works.claim(task, agent, { lease_seconds: 60 })
      works.clock.pass(59)
      const beaten = await works.tasks.heartbeat(task.id, { claim_token }, agent)
      assert.equal(beaten.lease_expires_at, '2026-11-21T08:01:59.000Z')
      works.clock.pass(59.999)
      assert.equal((await works.tasks.get(task.id, null)).status, 'claimed')
      works.clock.pass(0.001)
      const seen = await works.tasks.get(task.id, null)
      assert.deepEqual([seen.status, seen.agent, seen.lease_expires_at], ['open', null, null])
      await assert.rejects(works.tasks.heartbeat(task.id, { claim_token }, agent), { code: 'invalid_transition' })
      await assert.rejects(works.complete(task, agent, { claim_token }), {
        code: 'invalid_transition',
        message: /is open/,
      })
      const again = await works.claim(task, other, { agent: 'bob' })
      assert.notEqual(again.claim_token, claim_token)
      await assert.rejects(works.complete(task, agent, { claim_token }), { code: 'forbidden' })
      await assert.rejects(works.tasks.heartbeat(task.id, { claim_token }, other), { code: 'forbidden' })
      await assert.rejects(works.tasks.heartbeat(task.id, { claim_token: again.claim_token }, agent), {
        code: 'forbidden',
      })
      await works.complete(task, other, { agent: 'bob', claim_token: again.claim_token })
      await works.audit()
    })

    it('has one winner where its lease lapses while it is completed', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, other] = [await works.payer(), await works.agent(), await works.agent()]
      for (const lateBy of [0, 0.001]) {
        const task = await works.create(payer, { reward_usd: 1 })
        const { claim_token } = await works.claim(task, agent, { lease_seconds: 10 })
        works.clock.pass(9.999 + lateBy)
        const completing = works.complete(task, agent, { claim_token, result: 'mine' })
        works.clock.pass(0.001)
        const [completed, swept, claimed] = await Promise.allSettled([
          completing,
          works.tasks.sweepLeases(10),
          works.claim(task, other, { agent: 'bob' }),
        ])
        assert.equal(swept.status, 'fulfilled')
        assert.notEqual(completed.status, claimed.status, 'either it is completed, or another has it')
        const lost = [completed, claimed].find(({ status }) => status === 'rejected') as PromiseRejectedResult
        assert.match(lost.reason.code, /^(invalid_transition|forbidden)$/)
        if (lateBy > 0) assert.equal(completed.status, 'rejected')
        const { status, result } = await works.tasks.get(task.id, null)
        const won = completed.status === 'fulfilled'
        assert.deepEqual([status, result], won ? ['completed', 'mine'] : ['claimed', null])
      }
      await works.audit()
    })

    it('is listed as open once its lease is over, and swept in the background', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const tasks = [await works.create(payer, { capabilities: ['c'] }), await works.create(payer)]
      for (const task of tasks) await works.claim(task, agent, { lease_seconds: 10 })
      works.clock.pass(10)
      const list = (query: object) => works.tasks.list(TaskList.parse(query), null)
      assert.equal((await list({ status: 'open' })).items.length, 2)
      assert.equal((await list({ status: 'open', capability: 'c' })).total, 1)
      assert.equal((await list({ status: 'claimed' })).total, 0)
      assert.equal((await works.tasks.stats(null)).by_status.open, 2)
      for (const task of tasks) await works.claim(task, agent, { lease_seconds: 10 })
      works.clock.pass(10)
      assert.equal(await works.tasks.sweepLeases(10), 2)
      assert.equal(await works.tasks.sweepLeases(10), 0)
      await works.audit()
    })

    it('lets others have their turn while a list opens many whose leases are over', async (t) => {
      const works = worksOn(await open(t))
      const task = await works.create(await works.payer())
      await works.claim(task, await works.agent(), { lease_seconds: 10 })
      await works.store.write(async (trx) => {
        const row = await trx.selectFrom('tasks').selectAll().where('id', '=', task.id).executeTakeFirstOrThrow()
        for (let i = 1; i <= 1_000; i++)
          await trx
            .insertInto('tasks')
            .values({ ...row, id: `task_${i}` })
            .execute()
        const tally = createTally()
        tally.add('claimed', 1_000)
        await tally.write(trx)
      })
      works.clock.pass(10)
      const turns = await turnsDuring(() => works.tasks.list(TaskList.parse({ status: 'open' }), null))
      assert.ok(turns >= 2, `${turns} turns for two batches and a rest`)
      assert.equal((await works.tasks.stats(null)).by_status.open, 1_001)
    })

    it('cannot be claimed once its reward has expired', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const task = await works.create(payer, { reward_usd: 1, ttl_seconds: 60 })
      works.clock.pass(60)
      await assert.rejects(works.claim(task, agent), { code: 'invalid_transition', message: /reward expired/ })
    })

    it('is refunded when it fails', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(10), await works.agent()]
      const task = await works.create(payer, { reward_usd: 4 })
      await works.claim(task, agent)
      const failed = await works.complete(task, agent, { status: 'failed', result: 'no' })
      assert.equal(failed.status, 'failed')
      assert.equal(await works.left(payer), 10)
      assert.equal((await works.escrows.get(task.escrow_id ?? '', null)).status, 'refunded')
      await works.audit()
    })

    it('is cancelled by its creator or an admin, and refunded', async (t) => {
      const works = worksOn(await open(t))
      const [payer, stranger] = [await works.payer(10), await works.agent()]
      const tasks = [await works.create(payer, { reward_usd: 4 }), await works.create(payer, { reward_usd: 3 })]
      await assert.rejects(works.tasks.cancel(tasks[0]?.id ?? '', stranger), { code: 'forbidden' })
      await works.claim(tasks[1] ?? assert.fail('no task'), stranger)
      assert.equal((await works.tasks.cancel(tasks[0]?.id ?? '', payer)).status, 'cancelled')
      assert.equal((await works.tasks.cancel(tasks[1]?.id ?? '', ADMIN)).status, 'cancelled')
      assert.equal(await works.left(payer), 10)
      await assert.rejects(works.tasks.cancel(tasks[0]?.id ?? '', payer), { code: 'invalid_transition' })
      await works.audit()
    })

    it('needs an attestation of its own to be claimed where gaze is required', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const [task, other] = [await works.create(payer, { gaze_required: true }), await works.create(payer)]
      const refused = { code: 'gaze_verification_failed', status: 403 }
      await assert.rejects(works.claim(task, agent), refused)
      await assert.rejects(works.claim(task, agent, { attestation_id: await works.attest(other.id, agent) }), refused)
      const attestation_id = await works.attest(task.id, agent)
      await works.claim(task, agent, { attestation_id, lease_seconds: 1 })
      works.clock.pass(1)
      await assert.rejects(works.claim(task, agent, { attestation_id }), { ...refused, message: /used before/ })
      await works.claim(task, agent, { attestation_id: await works.attest(task.id, agent) })
      await works.audit()
    })

    it('is claimed at the level of evidence that it names', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const constant = async (task: Task, seed: number) => {
        const start = works.clock.now().toISOString()
        const records = humanStream(seed, { records: 60, start }).map((record) => ({ ...record, dwell_ms: 250 }))
        return (await works.gaze.store({ task_id: task.id, records }, agent.id)).attestation
      }
      const strict = await works.create(payer, { gaze_required: true, gaze_level: 'plausible' })
      const { id: attestation_id, level } = await constant(strict, 78)
      assert.deepEqual([level, strict.gaze_level], ['seen', 'plausible'])
      await assert.rejects(works.claim(strict, agent, { attestation_id }), {
        code: 'gaze_verification_failed',
        param: 'attestation_id',
        message: /reaches the level seen; plausible is needed/,
      })
      works.clock.pass(60)
      const lenient = await works.create(payer, { gaze_required: true, gaze_level: 'seen' })
      const seen = await constant(lenient, 79)
      await works.claim(lenient, agent, { attestation_id: seen.id })
      for (const gaze_level of ['none', 'present', 'live', ''])
        assert.equal(NewTask.safeParse({ title: 'Do it', gaze_level }).success, false, gaze_level)
      await works.audit()
    })

    it('is claimed for gaze of the claiming key since it was made, alone', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, third] = [await works.payer(), await works.agent(), await works.agent()]
      const task = await works.create(payer, { gaze_required: true })
      const start = new Date(works.clock.now().getTime() - 30_000).toISOString()
      const records = humanStream(77, { records: 60, start })
      const early = await works.gaze.store({ task_id: task.id, records }, agent.id)
      const cases: Array<[attestation: string, message: RegExp]> = [
        [early.attestation.id, /0 of its 60 newest records count; only records that the claiming key/],
        [await works.attest(task.id, third), /stored by someone else; only records that the claiming key/],
        [await works.attest(task.id, payer), /stored by someone else/],
      ]
      for (const [attestation_id, message] of cases)
        await assert.rejects(works.claim(task, agent, { attestation_id }), {
          code: 'gaze_verification_failed',
          status: 403,
          message,
        })
      assert.equal((await works.tasks.get(task.id, null)).status, 'open')
      const missing = works.gaze.store({ task_id: `task_${'0'.repeat(32)}`, records }, agent.id)
      await assert.rejects(missing, { code: 'not_found', param: 'task_id' })
      works.clock.pass(5)
      const claimed = await works.claim(task, agent, { attestation_id: await works.attest(task.id, agent) })
      assert.equal(claimed.claimed_at, works.clock.now().toISOString())
      works.clock.pass(7)
      await works.tasks.heartbeat(task.id, { agent: 'ada' }, agent)
      const done = await works.complete(task, agent)
      assert.deepEqual([done.claimed_at, done.completed_at], [claimed.claimed_at, works.clock.now().toISOString()])
      await works.audit()
    })

    it('is not there under an unknown id', async (t) => {
      const works = worksOn(await open(t))
      const agent = await works.agent()
      const id = `task_${'0'.repeat(32)}`
      const gone = { code: 'not_found', status: 404 }
      await assert.rejects(works.tasks.get(id, null), gone)
      await assert.rejects(works.claim({ id } as never, agent), gone)
      await assert.rejects(works.complete({ id } as never, agent), gone)
      await assert.rejects(works.tasks.heartbeat(id, { claim_token: 'x' }, agent), gone)
      await assert.rejects(works.tasks.cancel(id, agent), gone)
    })
  })

  describe('tasks that depend on others', () => {
    it('open when the last of those is completed', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const [a, b] = [await works.create(payer), await works.create(payer)]
      const c = await works.create(payer, { depends_on: [a.id, b.id, a.id], reward_usd: 1, capabilities: ['c'] })
      assert.equal(c.status, 'blocked')
      assert.deepEqual(c.depends_on, [a.id, b.id])
      await assert.rejects(works.claim(c, agent), { code: 'invalid_transition', message: /is blocked/ })
      for (const task of [a, b]) await works.claim(task, agent)
      await Promise.all([works.complete(a, agent), works.complete(b, agent)])
      assert.equal((await works.tasks.get(c.id, null)).status, 'open')
      const d = await works.create(payer, { depends_on: [a.id] })
      assert.equal(d.status, 'open')
      await works.audit()
    })

    it('are cancelled and refunded, all the way down, when one fails or is cancelled', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent, other] = [await works.payer(10), await works.agent(), await works.payer(10)]
      const a = await works.create(payer, { reward_usd: 1 })
      const b = await works.create(other, { reward_usd: 2, depends_on: [a.id], capabilities: ['c'] })
      const c = await works.create(payer, { reward_usd: 3, depends_on: [b.id] })
      await works.claim(a, agent)
      await works.complete(a, agent, { status: 'failed' })
      for (const { id } of [b, c]) assert.equal((await works.tasks.get(id, null)).status, 'cancelled')
      assert.deepEqual([await works.left(payer), await works.left(other)], [10, 10])
      await assert.rejects(works.create(payer, { depends_on: [a.id] }), {
        code: 'validation_failed',
        message: /is failed/,
      })
      await works.audit()
    })

    it('are refused where one does not exist', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer()
      await assert.rejects(works.create(payer, { depends_on: [`task_${'0'.repeat(32)}`] }), {
        code: 'validation_failed',
        param: 'depends_on',
      })
    })

    it('open even where they are made while the one that they wait for is completed', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      for (let round = 0; round < 5; round++) {
        const first = await works.create(payer)
        await works.claim(first, agent)
        const [, ...made] = await Promise.all([
          works.complete(first, agent),
          ...Array.from({ length: 6 }, () => works.create(payer, { depends_on: [first.id] })),
        ])
        for (const { id } of made) assert.equal((await works.tasks.get(id, null)).status, 'open')
      }
      await works.audit()
    })

    it('are made together as a graph, or not at all', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer(10)
      const task = (ref: string, dependsOn: string[] = []) => ({
        ref,
        title: ref,
        description: '',
        capabilities: ['c'],
        rewardMicros: 3_000_000,
        dependsOn,
      })
      const swarmId = `swarm_${'1'.repeat(32)}`
      const tasks = [task('b', ['a']), task('a'), task('c', ['a', 'b'])]
      const made = await works.tasks.createGraph({ callerId: payer.id, swarmId, goal: 'Reach c.', tasks })
      assert.deepEqual(
        made.map(({ title, status }) => [title, status]),
        [
          ['b', 'blocked'],
          ['a', 'open'],
          ['c', 'blocked'],
        ],
      )
      assert.deepEqual(made[2]?.depends_on, [made[1]?.id, made[0]?.id])
      assert.equal(await works.left(payer), 1)
      await assert.rejects(
        works.tasks.createGraph({
          callerId: payer.id,
          swarmId: `swarm_${'2'.repeat(32)}`,
          goal: 'd',
          tasks: [task('d')],
        }),
        {
          code: 'insufficient_credit',
        },
      )
      assert.equal((await works.tasks.list(TaskList.parse({ swarm_id: swarmId }), null)).total, 3)
      assert.deepEqual(
        (await works.tasks.swarms({ limit: 5 }, null)).items.map(({ swarm_id, goal }) => [swarm_id, goal]),
        [[swarmId, 'Reach c.']],
      )
      await works.audit()
    })

    it('are listed by swarm, newest first, with how far each is', async (t) => {
      const works = worksOn(await open(t))
      const payer = await works.payer(10)
      const worker = await works.agent()
      const swarm = async (at: number, refs: readonly string[]) => {
        const tasks = refs.map((ref) => ({
          ref,
          title: ref,
          description: '',
          capabilities: [],
          rewardMicros: 100_000,
          dependsOn: ref === 'last' ? refs.filter((other) => other !== 'last') : [],
        }))
        const swarmId = `swarm_${String(at).padStart(32, '0')}`
        return works.tasks.createGraph({ callerId: payer.id, swarmId, goal: `Goal ${at}`, tasks })
      }
      const [done] = (await swarm(1, ['only'])) as [Task]
      const [failing] = (await swarm(2, ['first', 'last'])) as [Task]
      const [cancelled] = (await swarm(3, ['only'])) as [Task]
      const [, held] = (await swarm(4, ['first', 'second', 'last'])) as [Task, Task]
      for (const [task, status] of [[done, 'completed'] as const, [failing, 'failed'] as const]) {
        await works.claim(task, worker)
        await works.complete(task, worker, { status })
      }
      await works.tasks.cancel(cancelled.id, payer)
      await works.claim(held, worker, { lease_seconds: 60 })

      const states = async (query: object = {}) => {
        const page = await works.tasks.swarms({ limit: 50, ...query }, null)
        const lines = page.items.map(({ goal, status, tasks: { by_status }, reward_usd }) => {
          const counted = Object.entries(by_status).filter(([, count]) => count > 0)
          return `${goal} ${status} ${counted.map(([name, count]) => `${count} ${name}`)} ${reward_usd}`
        })
        return { ...page, lines }
      }
      const all = await states()
      assert.deepEqual(all.lines, [
        'Goal 4 running 1 blocked,1 open,1 claimed 0.3',
        'Goal 3 cancelled 1 cancelled 0.1',
        'Goal 2 failed 1 failed,1 cancelled 0.2',
        'Goal 1 completed 1 completed 0.1',
      ])
      assert.deepEqual([all.total, all.next_cursor, all.items[0]?.creator], [4, null, payer.id])
      const first = await states({ limit: 3 })
      const rest = await states({ limit: 3, cursor: first.next_cursor })
      assert.deepEqual([...first.lines, ...rest.lines], all.lines)
      assert.deepEqual((await states({ offset: 3 })).lines, all.lines.slice(3))
      works.clock.pass(61)
      assert.equal((await states()).lines[0], 'Goal 4 running 1 blocked,2 open 0.3', 'a lease is over')
    })
  })

  describe('a list of tasks', () => {
    it('is filtered, counted and paged, newest first', async (t) => {
      const works = worksOn(await open(t))
      const [payer, agent] = [await works.payer(), await works.agent()]
      const made: Task[] = []
      for (let i = 0; i < 7; i++)
        made.push(await works.create(payer, { capabilities: i % 2 ? ['odd', 'any'] : ['any'] }))
      for (const i of [1, 2, 3]) await works.claim(made[i] ?? assert.fail('no task'), agent, { agent: `a${i % 2}` })
      await works.complete(made[1] ?? assert.fail('no task'), agent, { agent: 'a1' })
      const list = async (query: object) => {
        const { items, total } = await works.tasks.list(TaskList.parse(query), null)
        assert.equal(total, items.length)
        return items.map(({ id }) => made.findIndex((task) => task.id === id))
      }
      assert.deepEqual(await list({}), [6, 5, 4, 3, 2, 1, 0])
      assert.deepEqual(await list({ status: 'open' }), [6, 5, 4, 0])
      assert.deepEqual(await list({ status: 'claimed' }), [3, 2])
      assert.deepEqual(await list({ capability: 'odd' }), [5, 3, 1])
      assert.deepEqual(await list({ capability: 'odd', status: 'open' }), [5])
      assert.deepEqual(await list({ agent: 'a1' }), [3, 1])
      assert.deepEqual(await list({ agent: 'a1', status: 'completed' }), [1])
      assert.deepEqual(await list({ agent: 'a1', capability: 'odd', status: 'claimed' }), [3])
      for (const query of [{}, { capability: 'any' }]) {
        const seen = []
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await works.tasks.list(
            TaskList.parse({ ...query, limit: 3, ...(cursor ? { cursor } : {}) }),
            null,
          )
          assert.equal(page.total, 7)
          seen.push(...page.items.map(({ id }) => made.findIndex((task) => task.id === id)))
          cursor = page.next_cursor
        }
        assert.deepEqual(seen, [6, 5, 4, 3, 2, 1, 0])
      }
      const { items } = await works.tasks.list(TaskList.parse({ limit: 2, offset: 5 }), null)
      assert.deepEqual(
        items.map(({ id }) => made.findIndex((task) => task.id === id)),
        [1, 0],
      )
      await assert.rejects(works.tasks.list(TaskList.parse({ cursor: 'x' }), null), { code: 'invalid_cursor' })
      const { total, by_status } = await works.tasks.stats(null)
      assert.equal(total, 7)
      assert.deepEqual(by_status, { blocked: 0, open: 4, claimed: 2, completed: 1, failed: 0, cancelled: 0 })
      await works.audit()
    })
  })
}
