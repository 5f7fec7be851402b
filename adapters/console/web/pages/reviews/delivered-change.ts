import type { Change } from '../../../../../src/review/change-parts.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'

/**
 * Finds the change in the result of a task, as `gazeway review change` prints it. Whatever else the agent put beside it is
 * omitted: the receipt is the payer's. The platform checks what is in it.
 *
 * @returns null for a result without the lines of a change
 */
export function deliveredBy({ result }: Pick<Task, 'result'>): Change | null {
  if (typeof result !== 'object' || result === null) return null
  const { base, head, digest, parts } = result as Partial<Change>
  if (!base || !head || !digest || !Array.isArray(parts) || !parts.every(isPart)) return null
  return { base, head, digest, parts }
}

const isPart = (part: Partial<Change['parts'][number]> | null): boolean =>
  typeof part === 'object' &&
  part !== null &&
  typeof part.path === 'string' &&
  Number.isInteger(part.lines) &&
  (part.kind !== 'hunk' || Array.isArray(part.rows))

/** Says how much there is to read. */
export function lengthOf({ parts }: Pick<Change, 'parts'>): string {
  const lines = parts.reduce((sum, part) => sum + part.lines, 0)
  const files = new Set(parts.map(({ path }) => path)).size
  return `${lines} changed ${lines === 1 ? 'line' : 'lines'} in ${files} ${files === 1 ? 'file' : 'files'}`
}
