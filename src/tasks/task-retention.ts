import { sql } from 'kysely'
import { retentionSweep } from '../store/retention.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'

/** Tasks whose texts a batch empties. */
const TASKS = 50

/**
 * Sweep that empties the texts of ended tasks: titles, descriptions and results, and the goals of swarms that have no
 * other. Tasks stay for their escrows, and those with locked money keep their texts: a review compares the result.
 *
 * @param days `tasks.retention_days`, read at each run; null keeps all
 */
export const taskRetention = (store: Store, now: () => Date, days: () => number | null): Sweep =>
  retentionSweep({ name: 'tasks.retention', now, days, prune: (before, limit) => emptyTasks(store, before, limit) })

function emptyTasks(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const { rows } = await sql<{ swarm_id: string | null }>`update tasks set title = '', description = '', result = null
      where id in (select id from tasks where status in ('completed', 'failed', 'cancelled') and title <> ''
        and updated_at < ${before} and not exists (select 1 from escrows where escrows.task_id = tasks.id
          and escrows.status = 'locked') order by updated_at limit ${TASKS}) returning swarm_id`.execute(trx)
    const swarms = [...new Set(rows.flatMap(({ swarm_id }) => swarm_id ?? []))].sort()
    if (swarms.length > 0)
      await sql`update swarms set goal = '' where id in (${sql.join(swarms)}) and not exists
        (select 1 from tasks where tasks.swarm_id = swarms.id and title <> '')`.execute(trx)
    return rows.length === TASKS ? limit : 0
  })
}
