import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/**
 * Every list of tasks and escrows, and what is due among them, from an index of its own: an engine without statistics takes
 * it whatever the numbers are.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  await sql`alter table task_capabilities add column agent ${text}`.execute(db)
  await sql`update task_capabilities
    set agent = (select tasks.agent from tasks where tasks.id = task_capabilities.task_id)`.execute(db)
  await sql`create index tasks_of_agent_with_capability on task_capabilities (agent, capability, task_id)
    where agent is not null`.execute(db)
  await sql`create index tasks_of_agent_with_capability_by_status
    on task_capabilities (agent, capability, status, task_id) where agent is not null`.execute(db)

  await sql`drop index tasks_leased`.execute(db)
  await sql`create index tasks_leased on tasks (lease_expires_at) where lease_expires_at is not null`.execute(db)
  await sql`drop index escrows_expiring`.execute(db)
  await sql`create index escrows_expiring on escrows (status, expires_at)`.execute(db)
}
