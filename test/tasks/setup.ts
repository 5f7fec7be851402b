import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import type { Settlements } from '../../src/chain/settlements.ts'
import { type Caller, createEscrows, type Escrows, NewEscrow, Release } from '../../src/escrow/escrow.ts'
import { createGaze, type Gaze } from '../../src/gaze/gaze.ts'
import type { Scope } from '../../src/identity/key.ts'
import { createReviewVerifier } from '../../src/review/review-verifier.ts'
import type { GatewayKey } from '../../src/signing/gateway-keys.ts'
import type { Store } from '../../src/store/store.ts'
import { Claim, Completion, createTasks, NewTask, type Task, type Tasks } from '../../src/tasks/tasks.ts'
import { createLimits } from '../../src/wallet/budget/spending-limits.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { newKey } from '../wallet/setup.ts'

export type OpenStore = (t: TestContext) => Promise<Store>

const GAZE = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
export const LEDGER: Settlements = {
  mode: 'ledger',
  requireRecipient() {},
  async enqueue() {},
  states: async () => new Map(),
}

/** A clock that is moved by hand. */
export function createClock(at = '2026-11-21T08:00:00.000Z') {
  let ms = Date.parse(at)
  return {
    now: () => new Date(ms),
    pass: (seconds: number) => {
      ms += seconds * 1000
    },
  }
}

/** Tasks and escrows on a store, with a clock, callers and gaze. */
export interface Works {
  store: Store
  tasks: Tasks
  escrows: Escrows
  gaze: Gaze
  clock: ReturnType<typeof createClock>
  /** A new key with so much money and no credit. */
  payer(usd?: number, limits?: object): Promise<Caller>
  /** A new key without money. */
  agent(): Promise<Caller>
  /** A genuine attestation that is bound to a task and passes now, of records that a key stores as they are made. */
  attest(taskId: string, by: Caller): Promise<string>
  create(caller: Caller, task?: object): Promise<Task>
  claim(task: Task, caller: Caller, claim?: object): Promise<Task & { claim_token: string }>
  complete(task: Task, caller: Caller, completion?: object): Promise<Task>
  lock(caller: Caller, of: object): ReturnType<Escrows['create']>
  release(caller: Caller, of: object): ReturnType<Escrows['release']>
  /** Balance of a caller, in USD. */
  left(caller: Caller | string): Promise<number>
  /** Fails unless totals, escrows and ledger agree. */
  audit(): Promise<void>
}

export const caller = (id: string, ...scopes: Scope[]): Caller => ({ id, scopes: new Set(scopes), wallet: null })
export const ADMIN = caller('key_environment', 'admin', 'platform')

let seeds = 1

/** @param of.keys keys of the gateway that observes reviews; it observes none by default */
export function worksOn(
  store: Store,
  {
    settlements = LEDGER,
    keys = async () => [],
  }: { settlements?: Settlements; keys?: () => Promise<readonly GatewayKey[]> } = {},
): Works {
  const clock = createClock()
  const { now } = clock
  const gaze = createGaze({ store, config: GAZE, now })
  const verifier = createReviewVerifier(gaze.verifier, { maxAgeSeconds: () => GAZE.maxAgeSeconds, keys })
  const escrows = createEscrows({
    store,
    now,
    limitsOf: createLimits(store, 0).of,
    settlements,
    verifier,
    token: (mode) => (mode === 'evm' ? 'USDT' : 'pathUSD'),
  })
  const tasks = createTasks({ store, now, escrows, verifier })
  return {
    store,
    tasks,
    escrows,
    gaze,
    clock,
    async payer(usd = 100, limits = {}) {
      const id = await newKey(store, { credit_limit_usd: 0, ...limits })
      if (usd > 0) await makeDeposit(store, { caller_id: id, amount_usd: usd, reference: id }, now())
      return caller(id, 'platform')
    },
    agent: async () => caller(await newKey(store), 'platform'),
    async attest(taskId, { id }) {
      // The clock stands still: they are dated ahead of it by less than clocks may differ.
      const records = humanStream(seeds++, { records: 60, start: now().toISOString() })
      const { attestation } = await gaze.store({ task_id: taskId, records }, id)
      assert.equal(attestation.status, 'passed', JSON.stringify(attestation))
      return attestation.id
    },
    create: (by, task = {}) => tasks.create(NewTask.parse({ title: 'Do it', ...task }), by.id),
    claim: (task, by, claim = {}) => tasks.claim(task.id, Claim.parse({ agent: 'ada', ...claim }), by),
    complete: (task, by, completion = {}) =>
      tasks.complete(task.id, Completion.parse({ agent: 'ada', ...completion }), by),
    lock: (by, of) => escrows.create(NewEscrow.parse(of), by),
    release: (by, of) => escrows.release(Release.parse(of), by),
    async left(of) {
      const id = typeof of === 'string' ? of : of.id
      const row = await store.db
        .selectFrom('ledger_accounts')
        .select('balance_micros')
        .where('id', '=', `caller:${id}`)
        .executeTakeFirst()
      return (row?.balance_micros ?? 0) / 1e6
    },
    audit: () => audit(store, escrows),
  }
}

/** Compares what is kept in several places: totals with rows, escrows with their accounts, the ledger with itself. */
export async function audit(store: Store, escrows: Escrows): Promise<void> {
  const { faults, balances } = await verifyLedger(store)
  assert.deepEqual(faults, [])
  assert.equal(
    Object.values(balances).reduce((sum, micros) => sum + micros, 0),
    0,
  )
  assert.deepEqual(await escrows.verify(), [])
  const expected: Record<string, number> = {}
  const add = (name: string, by: number) => {
    expected[name] = (expected[name] ?? 0) + by
  }
  const MONEY = {
    locked: 'locked',
    expired: 'locked',
    released: 'paid',
    settled: 'paid',
    refunded: 'refunded',
  } as const
  for (const { status } of await store.db.selectFrom('tasks').select('status').execute()) add(status, 1)
  for (const row of await store.db.selectFrom('escrows').select(['status', 'amount_micros']).execute()) {
    add(`escrow_${row.status}`, 1)
    add(`${MONEY[row.status as keyof typeof MONEY]}_micros`, row.amount_micros)
  }
  const kept: Record<string, number> = {}
  for (const { shard, ...totals } of await store.db.selectFrom('task_totals').selectAll().execute())
    for (const [name, by] of Object.entries(totals)) kept[name] = (kept[name] ?? 0) + by
  const nonZero = (of: Record<string, number>) => Object.fromEntries(Object.entries(of).filter(([, by]) => by !== 0))
  assert.deepEqual(nonZero(kept), nonZero(expected))
  const strays = await store.db
    .selectFrom('task_capabilities')
    .innerJoin('tasks', 'tasks.id', 'task_capabilities.task_id')
    .select('task_id')
    .where(sql<boolean>`tasks.status <> task_capabilities.status
      or coalesce(tasks.agent, '') <> coalesce(task_capabilities.agent, '')`)
    .execute()
  assert.deepEqual(strays, [])
}
