import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Tasks, the swarms that they belong to, what they wait for and ask of an agent, the escrows of their rewards, and running totals of both. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await createTasks(db, engine)
  await createEscrows(db, engine)
  await createTotals(db, engine)
}

async function createTasks(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { json, time, integer, text } = columns(engine)
  await sql`create table tasks (
    id ${text} not null primary key,
    title ${text} not null,
    description ${text} not null,
    reward_micros ${integer} not null,
    capabilities ${json} not null,
    status ${text} not null,
    creator ${text} not null,
    agent ${text},
    claimed_by ${text},
    claim_hash ${text},
    lease_seconds ${integer},
    lease_expires_at ${time},
    claimed_at ${time},
    completed_at ${time},
    result ${json},
    gaze_required ${integer} not null,
    depends_on ${json} not null,
    waiting_on ${integer} not null,
    swarm_id ${text},
    escrow_id ${text},
    reward_expires_at ${time},
    reward_settlement ${text},
    created_at ${time} not null,
    updated_at ${time} not null
  )`.execute(db)
  await sql`create index tasks_by_status on tasks (status, id)`.execute(db)
  await sql`create index tasks_of_agent on tasks (agent, id) where agent is not null`.execute(db)
  await sql`create index tasks_of_agent_by_status on tasks (agent, status, id) where agent is not null`.execute(db)
  await sql`create index tasks_of_swarm on tasks (swarm_id, id) where swarm_id is not null`.execute(db)
  await sql`create index tasks_leased on tasks (lease_expires_at) where status = 'claimed'`.execute(db)

  await sql`create table swarms (
    id ${text} not null primary key,
    goal ${text} not null,
    creator ${text} not null,
    created_at ${time} not null
  )`.execute(db)

  await sql`create table task_capabilities (
    task_id ${text} not null,
    capability ${text} not null,
    status ${text} not null,
    primary key (task_id, capability)
  )`.execute(db)
  await sql`create index tasks_with_capability on task_capabilities (capability, task_id)`.execute(db)
  await sql`create index tasks_with_capability_by_status on task_capabilities (capability, status, task_id)`.execute(db)

  await sql`create table task_dependencies (
    depends_on ${text} not null,
    task_id ${text} not null,
    primary key (depends_on, task_id)
  )`.execute(db)
}

async function createEscrows(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, integer, text } = columns(engine)
  await sql`create table escrows (
    id ${text} not null primary key,
    task_id ${text} not null,
    amount_micros ${integer} not null,
    token ${text} not null,
    payer ${text} not null,
    recipient ${text},
    status ${text} not null,
    counted_on ${text},
    settlement_mode ${text} not null,
    attestation_id ${text},
    reason ${text},
    created_at ${time} not null,
    expires_at ${time} not null,
    released_at ${time},
    settled_at ${time},
    refunded_at ${time}
  )`.execute(db)
  await sql`create unique index escrow_of_task on escrows (task_id) where status <> 'refunded'`.execute(db)
  await sql`create index escrows_of_task on escrows (task_id, id)`.execute(db)
  await sql`create index escrows_by_status on escrows (status, id)`.execute(db)
  await sql`create index escrows_expiring on escrows (expires_at) where status = 'locked'`.execute(db)
  await sql`create index escrows_of_payer on escrows (payer, amount_micros)
    where status in ('locked', 'expired')`.execute(db)
}

async function createTotals(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { integer } = columns(engine)
  await sql`create table task_totals (
    shard ${integer} not null primary key,
    blocked ${integer} not null,
    open ${integer} not null,
    claimed ${integer} not null,
    completed ${integer} not null,
    failed ${integer} not null,
    cancelled ${integer} not null,
    escrow_locked ${integer} not null,
    escrow_released ${integer} not null,
    escrow_settled ${integer} not null,
    escrow_expired ${integer} not null,
    escrow_refunded ${integer} not null,
    locked_micros ${integer} not null,
    paid_micros ${integer} not null,
    refunded_micros ${integer} not null
  )`.execute(db)
}
