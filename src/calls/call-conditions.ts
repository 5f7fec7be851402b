import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { CallRow } from '../store/tables/calls-tables.ts'
import { unindexed } from '../store/unindexed.ts'
import { type CallSelection, type KeptFilter, meetingKept } from './call-selection.ts'
import { amongst } from './call-totals.ts'
import { meetingAny, type SessionCondition } from './named-session.ts'

/** Earlier than all calls. */
const FIRST_TIME = '0001-01-01T00:00:00.000Z'

/** Conditions of a list. `sessions` are those that name one session. */
export type Conditions = KeptFilter &
  CallSelection & { by?: Narrower; sessions?: readonly SessionCondition[] | undefined }

/** Column whose index leads to fewer calls; null where the engine decides. */
export type Narrower = 'caller_id' | 'status' | null

export type SelectedCalls = SelectQueryBuilder<Schema, 'calls', object>

/** Place of a call in the order of lists. */
export type Place = Pick<CallRow, 'at' | 'call_id'>

/** Orders calls as lists do, newest first. */
export const inOrder = (calls: SelectedCalls): SelectedCalls => calls.orderBy('at', 'desc').orderBy('call_id', 'desc')

/** Condition: a call comes after a place in that order. */
export const isBehind = ({ at, call_id }: Place): RawBuilder<boolean> =>
  sql<boolean>`(at, call_id) < (${at}, ${call_id})`

/** Selects the calls that meet all conditions. */
export function meeting(calls: SelectedCalls, conditions: Conditions): SelectedCalls {
  const { from, to, sessions, status, caller_id } = conditions
  const hasIndex = hasStatusIndex(status) || sessions !== undefined || caller_id !== undefined
  // Without a range, SQLite would sort a whole history to order the calls of one moment.
  const start = from ?? (hasIndex ? undefined : FIRST_TIME)
  let query = meetingAnytime(calls, conditions)
  if (to !== undefined) query = query.where('calls.at', '<', to)
  return start === undefined ? query : query.where('calls.at', '>=', start)
}

/**
 * Selects the calls that meet all conditions but those on their time. Those of a session have an index of their own and are
 * few: the indexes of other columns would only mislead an engine without statistics.
 */
export function meetingAnytime(
  calls: SelectedCalls,
  { sessions, status, path, caller_id, callers, models, by = null, ...kept }: Conditions,
): SelectedCalls {
  const isByStatus = sessions === undefined && by !== 'caller_id'
  let query = calls
  if (sessions !== undefined) query = query.where(meetingAny(sessions))
  for (const condition of meetingKept(kept)) query = query.where(condition)
  if (callers !== undefined) query = query.where(amongst(unindexed('caller_id'), callers))
  // The names of a session are those of its caller.
  if (caller_id !== undefined && sessions === undefined)
    query = query.where(by === 'status' ? unindexed('caller_id') : sql.ref<string>('caller_id'), '=', caller_id)
  if (status !== undefined)
    query = query.where(isByStatus ? sql.ref<string>('status') : unindexed('status'), '=', status)
  // SQLite takes a partial index only where the query repeats its condition.
  if (hasStatusIndex(status) && isByStatus) query = query.where(sql<boolean>`status <> 'ok'`)
  if (path !== undefined) query = query.where('path', '=', path)
  return models === undefined ? query : query.where('model', 'in', models)
}

/** Tells whether the index of calls by status has those of this one. Nearly all calls are `ok`: their times lead to them. */
export const hasStatusIndex = (status: string | undefined): boolean => status !== undefined && status !== 'ok'
