import { type CallSession, NO_SESSION } from '../../calls/call-session.ts'
import { SESSION_CLIENTS, type SessionClient, SHARED_SESSION } from './session-clients.ts'
import { firstWord, type SessionRequest } from './session-words.ts'

const VERSION = /^[\w.+-]{1,32}/
const NO_WORDS = [] as const

/**
 * Reads which session a request belongs to, once for each call.
 *
 * @param headers of the client's request, by lower-case name
 * @param body its JSON; empty where there is none
 */
export function sessionOf(headers: SessionRequest['headers'], body: SessionRequest['body'] = {}): CallSession {
  const request = { headers, body }
  const agent = typeof headers['user-agent'] === 'string' ? headers['user-agent'] : ''
  const client = SESSION_CLIENTS.find((one) => sends(one, agent, request))
  const session_id = firstWord(client?.session ?? NO_WORDS, request) ?? firstWord(SHARED_SESSION, request)
  if (client === undefined) return session_id === null ? NO_SESSION : { ...NO_SESSION, session_id }
  const { name, thread = NO_WORDS, parent = NO_WORDS, turn = NO_WORDS, kind = NO_WORDS } = client
  return {
    session_id,
    thread_id: firstWord(thread, request),
    parent_id: firstWord(parent, request),
    turn_id: firstWord(turn, request),
    kind: firstWord(kind, request),
    client: name,
    client_version: versionIn(client, agent),
  }
}

function sends({ agents, marks = NO_WORDS }: SessionClient, agent: string, request: SessionRequest): boolean {
  return agents.some((start) => agent.startsWith(start)) || firstWord(marks, request) !== null
}

/** Reads the version behind the first slash of a User-Agent. */
function versionIn({ agents }: SessionClient, agent: string): string | null {
  if (!agents.some((start) => agent.startsWith(start))) return null
  return VERSION.exec(agent.slice(agent.indexOf('/') + 1))?.[0] ?? null
}
