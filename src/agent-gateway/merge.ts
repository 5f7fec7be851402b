import * as z from 'zod'
import type { Session, SessionList } from '../sessions/session.ts'
import { decodeCursor, encodeCursor, type Page, type Paged } from '../store/page.ts'
import { lastActiveFirst } from './remote-sessions.ts'

/** Stands for the own list's cursor past its end; no cursor has such a character. */
const PAST_END = '.'
/** Position in both lists: the own list's cursor ("" at its start), and the previous session of either list. */
const Place = z.tuple([z.string(), z.number(), z.string()])

/** Two lists of sessions, each last active first. */
export interface Lists {
  /** Reads a page of our own; null to leave them out. */
  own: ((part: Omit<Paged<SessionList>, 'source'>) => Promise<Page<Session>>) | null
  theirs: readonly Session[]
}

/** Start of a page: in the own list after a cursor or offset, in the remote list at an index. */
interface Start {
  own: { cursor?: string; offset?: number } | null
  theirs: number
}

/**
 * Reads a page of both lists as one. Of the own list, it reads pages; for an offset, it also reads one session per
 * binary digit of the offset.
 *
 * @throws GazewayError `invalid_cursor`
 */
export async function mergeSessions(query: Paged<SessionList>, { own, theirs }: Lists): Promise<Page<Session>> {
  const { limit, maxBytes } = query
  const start = await startOf(query, { own, theirs })
  const page = own && start.own ? await own({ limit, maxBytes, ...start.own }) : null
  const ours = page?.items ?? []
  const both = [...ours, ...theirs.slice(start.theirs, start.theirs + limit)].sort(lastActiveFirst)
  const items = both.slice(0, Math.min(limit, known(both, page)))
  const shown = new Set(items)
  const oursShown = ours.filter((session) => shown.has(session)).length
  const after = own && start.own ? await cursorAfter(own, start.own, page, oursShown) : null
  const theirsLeft = theirs.length - start.theirs - (items.length - oursShown)
  const last = items.at(-1)
  const isEnd = after === null && theirsLeft <= 0
  return {
    items,
    total: (page?.total ?? (own ? (await own({ limit: 1 })).total : 0)) + theirs.length,
    next_cursor: isEnd || last === undefined ? null : encodeCursor([after ?? PAST_END, last.last_active, last.id]),
  }
}

/**
 * Number of merged sessions in final order. After an own page that ended early, more own sessions may precede remote
 * ones.
 */
function known(both: readonly Session[], page: Page<Session> | null): number {
  const last = page?.items.at(-1)
  return page === null || page.next_cursor === null || last === undefined ? both.length : both.indexOf(last) + 1
}

async function startOf({ cursor, offset = 0 }: SessionList, { own, theirs }: Lists): Promise<Start> {
  if (cursor !== undefined) {
    const [after, last_active, id] = decodeCursor(cursor, Place)
    const place = { last_active, id }
    const next = theirs.findIndex((session) => lastActiveFirst(place, session) < 0)
    return { own: after === PAST_END ? null : cursorPart(after), theirs: next === -1 ? theirs.length : next }
  }
  if (own === null) return { own: null, theirs: Math.min(offset, theirs.length) }
  if (offset === 0) return { own: {}, theirs: 0 }
  const skipped = await skippedOf(offset, own, theirs)
  return { own: { offset: offset - skipped }, theirs: skipped }
}

/** Number of remote sessions among the first `offset` of both, found by bisection. */
async function skippedOf(offset: number, own: NonNullable<Lists['own']>, theirs: readonly Session[]): Promise<number> {
  let low = 0
  let high = Math.min(offset, theirs.length)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const next = theirs[middle]
    const [last] = (await own({ limit: 1, offset: offset - middle - 1 })).items
    const isEnough = next === undefined || (last !== undefined && lastActiveFirst(last, next) < 0)
    if (isEnough) high = middle
    else low = middle + 1
  }
  return low
}

/** The own list's cursor after `shown` of a page; null past the end. */
async function cursorAfter(
  own: NonNullable<Lists['own']>,
  start: NonNullable<Start['own']>,
  page: Page<Session> | null,
  shown: number,
): Promise<string | null> {
  if (shown === (page?.items.length ?? 0)) return page?.next_cursor ?? null
  if (shown > 0) return (await own({ limit: shown, ...start })).next_cursor
  if (start.cursor !== undefined) return start.cursor
  const { offset = 0 } = start
  return offset === 0 ? '' : (await own({ limit: 1, offset: offset - 1 })).next_cursor
}

const cursorPart = (cursor: string) => (cursor === '' ? {} : { cursor })
