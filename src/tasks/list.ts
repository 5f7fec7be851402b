import { type Expression, type SqlBool, sql } from 'kysely'
import { z } from 'zod'
import { TaskId } from '../escrow/record.ts'
import { readTotals } from '../escrow/tally.ts'
import { decodeCursor, MOST_COUNTED, type Page, toPage } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import { type Task, type TaskList, toTask } from './record.ts'
import { TASK_STATUSES, type TaskStatus } from './transitions.ts'

/**
 * A page of tasks, newest first, each kind of list from an index. The number of all, or of a status, comes from running
 * totals; with another filter they are counted, up to 1,000.
 *
 * @throws GazewayError `invalid_cursor`
 */
export async function listTasks(store: Store, query: TaskList, at: string): Promise<Page<Task>> {
  const { limit, cursor, offset } = query
  let selected = matching(store, query).selectAll('tasks')
  // Ids sort by creation.
  const last = query.capability === undefined ? 'tasks.id' : 'asked.task_id'
  if (cursor !== undefined) selected = selected.where(sql.ref(last), '<', decodeCursor(cursor, z.tuple([TaskId]))[0])
  if (offset !== undefined) selected = selected.offset(offset)
  const rows = await selected
    .orderBy(sql.ref(last), 'desc')
    .limit(limit + 1)
    .execute()
  const total = await countTasks(store, query)
  return toPage(rows, { limit, total, item: (row) => toTask(row, at), cursor: (row) => [row.id] })
}

/** The tasks of a list; with a capability they are found by it and their status there. */
function matching({ db }: Store, { status, agent, capability, swarm_id: swarmId }: TaskList) {
  return db
    .selectFrom('tasks')
    .$if(
      capability !== undefined,
      (query) => query.innerJoin('task_capabilities as asked', 'asked.task_id', 'tasks.id') as never,
    )
    .where((eb) => {
      const conditions: Expression<SqlBool>[] = []
      if (capability !== undefined) conditions.push(sql`asked.capability = ${capability}`)
      if (status !== undefined)
        conditions.push(sql`${sql.ref(capability === undefined ? 'tasks.status' : 'asked.status')} = ${status}`)
      if (agent !== undefined) conditions.push(sql`tasks.agent = ${agent}`)
      if (swarmId !== undefined) conditions.push(sql`tasks.swarm_id = ${swarmId}`)
      return eb.and(conditions)
    })
}

async function countTasks(store: Store, query: TaskList): Promise<number> {
  const { status, agent, capability, swarm_id: swarmId } = query
  if (agent === undefined && capability === undefined && swarmId === undefined) {
    const totals = await readTotals(store.db)
    const counted: readonly TaskStatus[] = status === undefined ? TASK_STATUSES : [status]
    return counted.reduce<number>((sum, name) => sum + totals[name], 0)
  }
  const counted = matching(store, query).select(sql`1`.as('one')).limit(MOST_COUNTED)
  const { rows } = await sql<{ count: number }>`select count(*) as count from (${counted}) as counted`.execute(store.db)
  return rows[0]?.count ?? 0
}
