import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import * as z from 'zod'
import { TaskId } from '../escrow/escrow-record.ts'
import { readTotals } from '../escrow/escrow-tally.ts'
import { TASK_STATUSES, type TaskStatus, taskStatusAt } from '../escrow/task-status.ts'
import { countMatches } from '../store/count-matches.ts'
import { decodeCursor, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import { widthOf } from '../store/row-bytes.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { unindexed } from '../store/unindexed.ts'
import { type Task, type TaskList, toTask } from './task-record.ts'

/**
 * Lists a page of tasks, newest first, from an index. The total of all tasks or of a status comes from running totals;
 * with other filters it is counted, up to 1,000.
 *
 * @param viewer key that sees open tasks and those that it created or claimed; null for all tasks
 * @throws GazewayError `invalid_cursor`
 */
export async function listTasks(
  store: Store,
  { query, viewer }: { query: Paged<TaskList>; viewer: string | null },
  at: string,
): Promise<Page<Task>> {
  const { cursor, offset } = query
  const shown = { ...query, viewer }
  let selected = matching(pageReader(store, query), shown)
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
    total: () => countTasks(store, shown),
    item: (row) => toTask(row, at),
    cursor: (row) => [row.id],
  })
}

/** Tells whether the capability index is used. A swarm has few tasks, so its own index is enough. */
const isByCapability = ({ capability, swarm_id }: TaskList) => capability !== undefined && swarm_id === undefined

/** A list of tasks, as shown to one key. */
interface Shown extends TaskList {
  viewer: string | null
}

/** Tells whether a task is shown to a key: it is open, or the key created or claimed it. */
export const isShownTo = (viewer: string, row: TaskRow, at: string): boolean =>
  taskStatusAt(row, at) === 'open' || row.creator === viewer || row.claimed_by === viewer

/** Selects the tasks of a list. With a capability, status and agent are read from the capability index. */
function matching(db: Kysely<Schema>, query: Shown) {
  const { viewer, status, agent, capability, swarm_id: swarmId } = query
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
      // An open one is open to all, so that the index on the status is enough for the market.
      if (viewer !== null && status !== 'open')
        conditions.push(
          eb.or([
            sql<SqlBool>`${unindexed('tasks.status')} = 'open'`,
            sql<SqlBool>`${unindexed('tasks.creator')} = ${viewer}`,
            sql<SqlBool>`${unindexed('tasks.claimed_by')} = ${viewer}`,
          ]),
        )
      return eb.and(conditions)
    })
}

async function countTasks(store: Store, query: Shown): Promise<number> {
  const { viewer, status, agent, capability, swarm_id: swarmId } = query
  const seesAll = viewer === null || status === 'open'
  if (seesAll && agent === undefined && capability === undefined && swarmId === undefined) {
    const totals = await readTotals(store.db)
    const counted: readonly TaskStatus[] = status === undefined ? TASK_STATUSES : [status]
    return counted.reduce<number>((sum, name) => sum + totals[name], 0)
  }
  return countMatches(store.db, matching(store.db, query))
}
