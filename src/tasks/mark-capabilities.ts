import { sql, type Transaction } from 'kysely'
import { runBuilt } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'

/** Tasks per statement; both engines limit the parameters of one. */
const CHUNK = 500

/**
 * Copies the status and agent of tasks to their capabilities, where lists find them.
 *
 * @param tasks changed earlier in this transaction; tasks without capabilities are skipped
 */
export async function markCapabilities(
  trx: Transaction<Schema>,
  tasks: ReadonlyArray<Pick<TaskRow, 'id' | 'capabilities'>>,
): Promise<void> {
  const ids = tasks.filter(({ capabilities }) => capabilities !== '[]').map(({ id }) => id)
  for (let start = 0; start < ids.length; start += CHUNK) {
    const some = ids.slice(start, start + CHUNK)
    await runBuilt(trx, `mark capabilities of ${some.length}`, some, () =>
      trx
        .updateTable('task_capabilities')
        .set({ status: ofTask('status'), agent: ofTask('agent') })
        .where('task_id', 'in', some)
        .compile(),
    )
  }
}

const ofTask = (column: 'status' | 'agent') =>
  sql<string>`(select ${sql.ref(`tasks.${column}`)} from tasks where tasks.id = task_capabilities.task_id)`
