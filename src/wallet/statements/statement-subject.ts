import { type RawBuilder, sql } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { Statement } from './statement.ts'

/** Owner of a statement. `callers` are the accounts that it adds up; null for all. */
export interface Subject {
  kind: Statement['of']['kind']
  id: string | null
  callers: readonly string[] | null
}

/** Condition, after others, that a column names one of the accounts; none for all. */
export const ofCallers = (callers: Subject['callers'], column: string): RawBuilder<unknown> =>
  callers === null ? sql`` : sql`and ${sql.ref(column)} in (${sql.join(callers.length === 0 ? [''] : callers)})`

/** Names whose statement is wanted: a caller, a group, or all. */
export interface StatementOf {
  caller_id?: string | undefined
  group?: string | undefined
}

/**
 * Finds the accounts of a statement. That of a group adds up the accounts of its keys, revoked ones too.
 *
 * @throws GazewayError `not_found` for a group that does not exist, `validation_failed` for both a caller and a group
 */
export async function subjectOf({ db }: Store, { caller_id, group }: StatementOf): Promise<Subject> {
  if (caller_id !== undefined && group !== undefined)
    throw new GazewayError('validation_failed', 'group: name a caller or a group, not both.', { param: 'group' })
  if (caller_id !== undefined) return { kind: 'caller', id: caller_id, callers: [caller_id] }
  if (group === undefined) return { kind: 'all', id: null, callers: null }
  const known = await db.selectFrom('key_groups').select('id').where('id', '=', group).executeTakeFirst()
  if (known === undefined) throw new GazewayError('not_found', 'There is no group with this id.', { param: 'group' })
  const keys = await db.selectFrom('keys').select('id').where('group_id', '=', group).execute()
  return { kind: 'group', id: group, callers: keys.map(({ id }) => id) }
}
