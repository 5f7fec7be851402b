import * as z from 'zod'
import type {
  MessageList,
  Session,
  SessionDirectory,
  SessionFound,
  SessionList,
  SessionMessage,
  SessionSearch,
  Viewer,
} from '../sessions/session.ts'
import { decodeCursor, encodeCursor, PAGE_BYTES, type Page, type Paged } from '../store/page.ts'
import { cut } from '../text/cut.ts'
import { jsonBytes } from '../text/json-bytes.ts'
import { queryWords, wordsOf } from '../text/words.ts'
import type { Remote } from './agent-gateway.ts'
import { mergeSessions } from './merge.ts'
import { UPSTREAM } from './remote-session.ts'
import { lastActiveFirst } from './remote-sessions.ts'

/** Maximum number of words of a query that are used. */
const MAX_WORDS = 24
const MessagePlace = z.tuple([z.int().min(1)])

/**
 * Creates the directory of this gateway's own sessions together with those of the agent gateway. Each session is read
 * where it is stored. The agent gateway does not know this gateway's callers, so only callers who see all sessions see
 * its sessions. When it does not answer, lists have a warning.
 */
export function createSessionDirectory({ own, remote }: { own: SessionDirectory; remote: Remote }): SessionDirectory {
  /** Id of a session at the agent gateway that the viewer may see; null for sessions of this store. */
  const theirId = (id: string, viewer: Viewer) => (viewer.all ? remote.idOf(id) : null)

  return {
    async list(query, viewer) {
      if (!viewer.all) return own.list(query, viewer)
      const { value, error } = await remote.newest('sessions')
      const page = await mergeSessions(query, {
        own: query.source === UPSTREAM ? null : (part) => own.list({ ...part, source: query.source }, viewer),
        theirs: value.filter(isFrom(query)),
      })
      return withWarning(page, error)
    },

    async get(id, viewer) {
      const theirs = theirId(id, viewer)
      return theirs === null ? own.get(id, viewer) : remote.sessions.get(theirs)
    },

    async messages(id, query, viewer) {
      const theirs = theirId(id, viewer)
      if (theirs === null) return own.messages(id, query, viewer)
      return pageOf(await remote.sessions.messages(theirs), query)
    },

    async search(query, viewer) {
      const found = await own.search(query, viewer)
      if (!viewer.all) return found
      const { value, error } = await remote.newest('sessions')
      const results = among(found.results, searchIn(value, query)).slice(0, query.limit)
      return withWarning({ results }, error)
    },

    async update(id, patch, viewer) {
      const theirs = theirId(id, viewer)
      if (theirs === null) return own.update(id, patch, viewer)
      const changed = await remote.sessions.update(theirs, patch)
      remote.changed('sessions')
      return changed
    },

    async remove(id, viewer) {
      const theirs = theirId(id, viewer)
      if (theirs === null) return own.remove(id, viewer)
      await remote.sessions.remove(theirs)
      remote.changed('sessions')
    },
  }
}

/** Tells whether a session of the agent gateway has the requested source, here or by the agent gateway's own name. */
const isFrom = ({ source }: SessionList) =>
  function isFromSource({ upstream_source }: Session): boolean {
    return source === undefined || source === UPSTREAM || source === upstream_source
  }

/** Selects the newest of `messages`, oldest first. */
function pageOf(messages: readonly SessionMessage[], query: Paged<MessageList>): Page<SessionMessage> {
  const { limit, cursor, offset = 0, maxBytes = PAGE_BYTES } = query
  const newest = cursor === undefined ? messages.length : decodeCursor(cursor, MessagePlace)[0]
  const end = Math.max(0, newest - offset)
  const start = fittingFrom(messages, { end, first: Math.max(0, end - limit), maxBytes })
  return {
    items: messages.slice(start, end),
    total: messages.length,
    next_cursor: start > 0 ? encodeCursor([start]) : null,
  }
}

/** Index of the first message of a page before `end` within the byte limit; the page has at least one message. */
function fittingFrom(
  messages: readonly SessionMessage[],
  { end, first, maxBytes }: { end: number; first: number; maxBytes: number },
): number {
  let bytes = 0
  for (let start = end; start > first; start--) {
    bytes += jsonBytes(messages[start - 1])
    if (bytes > maxBytes && start < end) return start
  }
  return first
}

/** Searches titles and previews, because the agent gateway has no search. */
function searchIn(sessions: readonly Session[], { q }: SessionSearch): SessionFound[] {
  const words = queryWords(q, MAX_WORDS).flatMap((word) => word.split(' '))
  if (words.length === 0) return []
  return sessions.flatMap((session) => {
    const text = [session.title, session.preview].filter(Boolean).join(' ')
    const held = [...wordsOf(text)].map((word) => word.text)
    const isFound = words.every((word) => held.some((other) => other.startsWith(word)))
    return isFound ? [{ session, message: null, snippet: cut(text, 0, 200) }] : []
  })
}

/** Merges the results. Ours keep their rank; each of theirs comes before the first of ours that was active earlier. */
function among(ours: readonly SessionFound[], theirs: SessionFound[]): SessionFound[] {
  const merged = ours.flatMap((hit) => {
    const later = theirs.findIndex(({ session }) => lastActiveFirst(session, hit.session) >= 0)
    return [...theirs.splice(0, later === -1 ? theirs.length : later), hit]
  })
  return [...merged, ...theirs]
}

function withWarning<T extends object>(reply: T, error: string | null): T & { warnings?: string[] } {
  return error === null ? reply : { ...reply, warnings: [error] }
}
