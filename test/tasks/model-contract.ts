import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { GazewayError } from '../../src/errors.ts'
import type { Caller } from '../../src/escrow/escrow.ts'
import { ESCROW_TRANSITIONS, type EscrowStatus } from '../../src/escrow/escrow-statuses.ts'
import type { TaskStatus } from '../../src/escrow/task-status.ts'
import { statusAfter } from '../../src/store/status-table.ts'
import { TASK_TRANSITIONS } from '../../src/tasks/task-statuses.ts'
import { ADMIN, type OpenStore, type Works, worksOn } from './setup.ts'

const PAID_IN = 40
const REWARD = 3
const LEASE = 60
const TTL = 150

/** Expected state of a task and its escrow. */
interface ModelTask {
  id: string
  escrowId: string
  status: TaskStatus
  escrow: EscrowStatus
  leaseEnds: number
  escrowEnds: number
  dependsOn: number | null
}

interface Model {
  /** Seconds that passed. */
  time: number
  tasks: ModelTask[]
}

interface Real {
  works: Works
  payer: Caller
  agent: Caller
}

type Moves = 'claim' | 'complete' | 'fail' | 'cancel' | 'release' | 'refund'
const MOVES: readonly Moves[] = ['claim', 'complete', 'fail', 'cancel', 'release', 'refund']

/** Sees what time alone changes. */
function passTime(model: Model): void {
  for (const task of model.tasks) {
    if (task.status === 'claimed' && task.leaseEnds <= model.time) move(task, 'lapse')
    if (task.escrow === 'locked' && task.escrowEnds <= model.time)
      task.escrow = statusAfter(ESCROW_TRANSITIONS, 'expire', 'locked') as EscrowStatus
  }
}

function move(
  task: ModelTask,
  event: 'claim' | 'complete' | 'fail' | 'cancel' | 'lapse' | 'unblock' | 'give up',
): boolean {
  const next = statusAfter(TASK_TRANSITIONS, event, task.status)
  if (next !== null) task.status = next
  return next !== null
}

function refundLost(task: ModelTask): void {
  task.escrow = statusAfter(ESCROW_TRANSITIONS, 'refund', task.escrow) ?? task.escrow
}

/** Applies a move as the status tables define it. @returns whether it can happen */
function expected(model: Model, index: number, what: Moves): boolean {
  const task = model.tasks[index] ?? assert.fail('no task')
  if (what === 'release') {
    if (task.escrow === 'released') return true
    if (task.status !== 'completed' || statusAfter(ESCROW_TRANSITIONS, 'release', task.escrow) === null) return false
    task.escrow = 'released'
    return true
  }
  if (what === 'refund') {
    if (task.escrow === 'refunded') return true
    if (task.escrow !== 'expired') return false
    refundLost(task)
    return true
  }
  // Nobody is to work for a reward that has expired.
  if (what === 'claim' && task.escrow === 'expired') return false
  if (what === 'claim' && task.escrowEnds <= model.time) return false
  if (!move(task, what)) return false
  if (what === 'claim') task.leaseEnds = model.time + LEASE
  if (what === 'complete') wait(model, index, 'unblock')
  if (what === 'fail' || what === 'cancel') {
    refundLost(task)
    wait(model, index, 'give up')
  }
  return true
}

/** Applies the end of a task to the tasks that wait for it. */
function wait(model: Model, index: number, event: 'unblock' | 'give up'): void {
  for (const [i, task] of model.tasks.entries())
    if (task.dependsOn === index && move(task, event) && event === 'give up') {
      refundLost(task)
      wait(model, i, event)
    }
}

async function attempt(
  { works, payer, agent }: Real,
  task: ModelTask,
  what: Moves,
  attestation: string,
): Promise<void> {
  const of = { id: task.id } as never
  if (what === 'claim') await works.claim(of, agent, { lease_seconds: LEASE })
  if (what === 'complete') await works.complete(of, agent)
  if (what === 'fail') await works.complete(of, agent, { status: 'failed' })
  if (what === 'cancel') await works.tasks.cancel(task.id, payer)
  if (what === 'release') await works.release(payer, { escrow_id: task.escrowId, attestation_id: attestation })
  if (what === 'refund') await works.escrows.refund(task.escrowId, {}, ADMIN)
}

const REFUSALS = new Set(['invalid_transition', 'task_not_completed', 'forbidden'])

/** Tells whether a move happened. Any error other than a refusal by status fails the test. */
async function happened(work: Promise<void>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof GazewayError && REFUSALS.has(error.code)) return false
    throw error
  }
}

/** Everyone's money: what is free, in escrow and paid, in USD; it never changes. */
async function requireConserved({ works, payer, agent }: Real, model: Model): Promise<void> {
  const of = (...statuses: EscrowStatus[]) =>
    model.tasks.filter((task) => statuses.includes(task.escrow)).length * REWARD
  assert.equal(await works.left(agent), of('released'))
  assert.equal(await works.left(payer), PAID_IN - of('released') - of('locked', 'expired'))
  await works.audit()
}

async function requireSame({ works }: Real, model: Model): Promise<void> {
  for (const task of model.tasks) {
    assert.equal((await works.tasks.get(task.id, null)).status, task.status)
    assert.equal((await works.escrows.get(task.escrowId, null)).status, task.escrow)
  }
}

class Create implements fc.AsyncCommand<Model, Real> {
  readonly dependsOn: number | null
  constructor(dependsOn: number | null) {
    this.dependsOn = dependsOn
  }
  check = (): boolean => true
  async run(model: Model, real: Real): Promise<void> {
    const index = this.dependsOn === null || model.tasks.length === 0 ? null : this.dependsOn % model.tasks.length
    const first = index === null ? null : (model.tasks[index] as ModelTask)
    const spent = model.tasks.filter(({ escrow }) => escrow !== 'refunded').length * REWARD
    const making = real.works.create(real.payer, {
      reward_usd: REWARD,
      ttl_seconds: TTL,
      capabilities: ['c'],
      ...(first ? { depends_on: [first.id] } : {}),
    })
    if (first?.status === 'failed' || first?.status === 'cancelled')
      return assert.rejects(making, { code: 'validation_failed' })
    if (spent + REWARD > PAID_IN) return assert.rejects(making, { code: 'insufficient_credit' })
    const { id, escrow_id } = await making
    model.tasks.push({
      id,
      escrowId: escrow_id ?? '',
      status: first === null || first.status === 'completed' ? 'open' : 'blocked',
      escrow: 'locked',
      leaseEnds: 0,
      escrowEnds: model.time + TTL,
      dependsOn: index,
    })
    await requireConserved(real, model)
  }
  toString = () => `create(after ${this.dependsOn})`
}

/** One move, or several at once on one task: then the outcome must be that of some order of them. */
class Together implements fc.AsyncCommand<Model, Real> {
  readonly task: number
  readonly moves: readonly Moves[]
  constructor(task: number, moves: readonly Moves[]) {
    this.task = task
    this.moves = moves
  }
  check = (model: Readonly<Model>): boolean => model.tasks.length > 0
  async run(model: Model, real: Real): Promise<void> {
    const index = this.task % model.tasks.length
    const task = model.tasks[index] as ModelTask
    const attestations: string[] = []
    for (const move of this.moves)
      attestations.push(move === 'release' ? await real.works.attest(task.id, real.payer) : '')
    const outcomes = await Promise.all(
      this.moves.map((move, i) => happened(attempt(real, task, move, attestations[i] as string))),
    )
    const explained = ordersOf(this.moves.map((_, i) => i)).flatMap((order) => {
      const one = structuredClone(model)
      const same = order.every((i) => expected(one, index, this.moves[i] as Moves) === outcomes[i])
      return same ? [one] : []
    })
    assert.ok(explained.length > 0, `no order of ${this.moves} on a task that is ${task.status} gives ${outcomes}`)
    const matching: Model[] = []
    for (const one of explained) if (await isSame(real, one)) matching.push(one)
    const found = matching[0] ?? assert.fail(`the tasks are as no order of ${this.moves} leaves them`)
    model.tasks = found.tasks
    await requireConserved(real, model)
  }
  toString = () => `${this.moves.join('+')}(${this.task})`
}

class Wait implements fc.AsyncCommand<Model, Real> {
  readonly seconds: number
  readonly sweep: boolean
  constructor(seconds: number, sweep: boolean) {
    this.seconds = seconds
    this.sweep = sweep
  }
  check = (): boolean => true
  async run(model: Model, real: Real): Promise<void> {
    model.time += this.seconds
    real.works.clock.pass(this.seconds)
    passTime(model)
    if (this.sweep) await Promise.all([real.works.tasks.sweepLeases(100), real.works.escrows.expire(100)])
    await requireSame(real, model)
    await requireConserved(real, model)
  }
  toString = () => `wait(${this.seconds} s${this.sweep ? ', swept' : ''})`
}

async function isSame(real: Real, model: Model): Promise<boolean> {
  for (const task of model.tasks) {
    if ((await real.works.tasks.get(task.id, null)).status !== task.status) return false
    if ((await real.works.escrows.get(task.escrowId, null)).status !== task.escrow) return false
  }
  return true
}

const ordersOf = (items: number[]): number[][] =>
  items.length < 2
    ? [items]
    : items.flatMap((item) => ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))

const task = fc.nat(20)
const COMMANDS = [
  fc.option(task).map((after) => new Create(after)),
  fc.tuple(task, fc.constantFrom(...MOVES)).map(([on, move]) => new Together(on, [move])),
  fc
    .tuple(task, fc.array(fc.constantFrom(...MOVES), { minLength: 2, maxLength: 3 }))
    .map(([on, moves]) => new Together(on, moves)),
  fc.tuple(fc.constantFrom(1, LEASE / 2, LEASE, TTL), fc.boolean()).map(([seconds, swept]) => new Wait(seconds, swept)),
]

/** Tasks and escrows against their transition tables, on every store engine. */
export function modelContract(open: OpenStore): void {
  it('follow their tables, whatever happens at once, and no money is lost or made', async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 30 }), async (commands) => {
        const works = worksOn(await open(t))
        const [payer, agent] = [await works.payer(PAID_IN), await works.agent()]
        await fc.asyncModelRun(() => ({ model: { time: 0, tasks: [] }, real: { works, payer, agent } }), commands)
      }),
      { numRuns: 40, endOnFailure: true },
    )
  })
}
