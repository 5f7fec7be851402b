import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import * as z from 'zod'
import { TaskId } from '../escrow/escrow-record.ts'
import { readTotals } from '../escrow/escrow-tally.ts'
import { TASK_STATUSES, type TaskStatus } from '../escrow/task-status.ts'
import { countMatches } from '../store/count-matches.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { unindexed } from '../store/unindexed.ts'
import { widthOf } from '../store/width.ts'
import { type Task, type TaskList, toTask } from './task-record.ts'

/**
 * Lists a page of tasks, newest first, from an index. The total of all tasks or of a status comes from running totals;
 * with other filters it is counted, up to 1,000.
 *
 * @throws GazewayError `invalid_cursor`
 */
export async function listTasks(store: Store, query: Paged<TaskList>, at: string): Promise<Page<Task>> {
  const { cursor, offset } = query
  let selected = matching(pageReader(store, query), query)
  // Ids sort by creation.
  const last = isByCapability(query) ? 'asked.task_id' : 'tasks.id'
  if (cursor !== undefined) selected = selected.where(sql.ref(last), '<', decodeCursor(cursor, z.tuple([TaskId]))[0])
  if (offset !== undefined) selected = selected.offset(offset)
  const newest = selected.orderBy(sql.ref(last), 'desc')
  return readPage(query, {
    rows: (limit) => newest.selectAll('tasks').limit(limit).execute(),
    async sizes(limit) {
      const width = widthOf(store.engine, ['tasks.description', 'tasks.result'])
      const rows = await newest.select(width.as('bytes')).limit(limit).execute()
      return rows.map(({ bytes }) => bytes)
    },
    total: () => countTasks(store, query),
    item: (row) => toTask(row, at),
    cursor: (row) => [row.id],
  })
}

/** Tells whether the capability index is used. A swarm has few tasks, so its own index is enough. */
const isByCapability = ({ capability, swarm_id }: TaskList) => capability !== undefined && swarm_id === undefined

/** Selects the tasks of a list. With a capability, status and agent are read from the capability index. */
function matching(db: Kysely<Schema>, query: TaskList) {
  const { status, agent, capability, swarm_id: swarmId } = query
  const table = isByCapability(query) ? 'asked' : 'tasks'
  const column = (name: 'status' | 'agent') =>
    swarmId === undefined ? sql.ref(`${table}.${name}`) : unindexed(`tasks.${name}`)
  return db
    .selectFrom('tasks')
    .$if(
      isByCapability(query),
      (selected) => selected.innerJoin('task_capabilities as asked', 'asked.task_id', 'tasks.id') as never,
    )
    .where((eb) => {
      const conditions: Expression<SqlBool>[] = []
      if (status !== undefined) conditions.push(sql`${column('status')} = ${status}`)
      if (agent !== undefined) conditions.push(sql`${column('agent')} = ${agent}`)
      if (swarmId !== undefined) conditions.push(sql`tasks.swarm_id = ${swarmId}`)
      if (capability !== undefined && swarmId === undefined) conditions.push(sql`asked.capability = ${capability}`)
      if (capability !== undefined && swarmId !== undefined)
        conditions.push(
          sql`exists (select 1 from task_capabilities where task_id = tasks.id and capability = ${capability})`,
        )
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
  return countMatches(store.db, matching(store.db, query))
}
