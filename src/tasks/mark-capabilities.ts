import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { TaskRow } from '../store/tables/tasks.ts'
import type { TaskStatus } from './transitions.ts'

/** Tasks of one statement: both engines take so many parameters. */
const CHUNK = 500

/**
 * Writes the status that tasks now have to the capabilities that they ask for, by which lists find them.
 *
 * @param tasks those that ask for none are skipped
 */
export async function markCapabilities(
  trx: Transaction<Schema>,
  tasks: ReadonlyArray<Pick<TaskRow, 'id' | 'capabilities'>>,
  status: TaskStatus,
): Promise<void> {
  const ids = tasks.filter(({ capabilities }) => capabilities !== '[]').map(({ id }) => id)
  for (let start = 0; start < ids.length; start += CHUNK)
    await trx
      .updateTable('task_capabilities')
      .set({ status })
      .where('task_id', 'in', ids.slice(start, start + CHUNK))
      .execute()
}
