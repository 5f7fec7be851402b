import { type Kysely, sql } from 'kysely'
import * as z from 'zod'
import { TASK_STATUSES, type TaskStatus } from '../escrow/task-status.ts'
import { countMatches } from '../store/count-matches.ts'
import { decodeCursor, ListQuery, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import { widthOf } from '../store/row-bytes.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { SwarmRow } from '../store/tables/tasks-tables.ts'
import { toUsd } from '../text/money.ts'
import { SwarmId } from './task-record.ts'
import { UNFINISHED_STATUSES } from './task-statuses.ts'

/** Filters of a list of swarms. */
export const SwarmList = ListQuery
export type SwarmList = z.infer<typeof SwarmList>

const SWARM_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const
type SwarmStatus = (typeof SWARM_STATUSES)[number]

/** A swarm in a list. */
export const SwarmSummary = z.object({
  swarm_id: z.string(),
  goal: z.string(),
  status: z
    .enum(SWARM_STATUSES)
    .describe(
      '`running` while a task is unfinished; then `completed` if all are completed, `failed` if one failed, else `cancelled`',
    ),
  tasks: z.object({
    by_status: z.record(z.enum(TASK_STATUSES), z.int()),
  }),
  reward_usd: z.number().describe('The rewards of all its tasks together'),
  creator: z.string().describe('Id of the key that created it'),
  created_at: z.iso.datetime(),
})
export type SwarmSummary = z.infer<typeof SwarmSummary>

/** Sums over the tasks of a swarm. */
interface Sums {
  byStatus: Record<TaskStatus, number>
  micros: number
}

/**
 * Lists a page of swarms, newest first. The cost depends only on the page: each swarm has a row and at most fifty
 * tasks. `total` counts up to 1,000.
 *
 * @param viewer key that sees the swarms it created or has claimed a task of; null for all swarms
 * @param at time of the list; tasks whose lease has expired by then count as open
 * @throws GazewayError `invalid_cursor`
 */
export async function listSwarms(
  store: Store,
  { query, viewer }: { query: Paged<SwarmList>; viewer: string | null },
  at: string,
): Promise<Page<SwarmSummary>> {
  const { cursor, offset } = query
  const db = pageReader(store, query)
  let selected = visible(db, viewer).orderBy('id', 'desc')
  if (cursor !== undefined) selected = selected.where('id', '<', decodeCursor(cursor, z.tuple([SwarmId]))[0])
  if (offset !== undefined) selected = selected.offset(offset)
  return readPage(query, {
    async rows(limit) {
      const swarms = await selected.selectAll().limit(limit).execute()
      const sums = await sumTasks(db, swarms, at)
      return swarms.map((swarm) => ({ swarm, sums: sums.get(swarm.id) }))
    },
    async sizes(limit) {
      const rows = await selected
        .select(widthOf(store.engine, ['goal']).as('bytes'))
        .limit(limit)
        .execute()
      return rows.map(({ bytes }) => bytes)
    },
    total: () => countMatches(store.db, visible(store.db, viewer)),
    item: ({ swarm, sums }) => toSummary(swarm, sums),
    cursor: ({ swarm }) => [swarm.id],
  })
}

const visible = (db: Kysely<Schema>, viewer: string | null) =>
  db.selectFrom('swarms').$if(viewer !== null, (swarms) =>
    swarms.where(
      sql<boolean>`(creator = ${viewer} or exists
        (select 1 from tasks where tasks.swarm_id = swarms.id and tasks.claimed_by = ${viewer}))`,
    ),
  )

async function sumTasks(db: Kysely<Schema>, swarms: readonly SwarmRow[], at: string): Promise<Map<string, Sums>> {
  const sums = new Map<string, Sums>()
  if (swarms.length === 0) return sums
  const rows = await db
    .selectFrom('tasks')
    .select([
      'swarm_id',
      sql<TaskStatus>`case when status = 'claimed' and lease_expires_at <= ${at} then 'open' else status end`.as('now'),
      sql<number>`count(*)`.as('tasks'),
      sql<number>`sum(reward_micros)`.as('micros'),
    ])
    .where(
      'swarm_id',
      'in',
      swarms.map(({ id }) => id),
    )
    .groupBy(['swarm_id', 'now'])
    .execute()
  for (const { swarm_id, now, tasks, micros } of rows) {
    const swarm = sums.get(swarm_id ?? '') ?? noTasks()
    swarm.byStatus[now] += Number(tasks)
    swarm.micros += Number(micros)
    sums.set(swarm_id ?? '', swarm)
  }
  return sums
}

const noTasks = (): Sums => ({
  byStatus: Object.fromEntries(TASK_STATUSES.map((status) => [status, 0])) as Sums['byStatus'],
  micros: 0,
})

function toSummary({ id, goal, creator, created_at }: SwarmRow, { byStatus, micros }: Sums = noTasks()): SwarmSummary {
  return {
    swarm_id: id,
    goal,
    status: statusOf(byStatus),
    tasks: { by_status: byStatus },
    reward_usd: toUsd(micros),
    creator,
    created_at,
  }
}

function statusOf(byStatus: Record<TaskStatus, number>): SwarmStatus {
  if (UNFINISHED_STATUSES.some((status) => byStatus[status] > 0)) return 'running'
  if (byStatus.failed > 0) return 'failed'
  return byStatus.cancelled > 0 ? 'cancelled' : 'completed'
}
