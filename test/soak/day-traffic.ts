import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { humanStream } from '../gaze/human-stream.ts'

/** Services and keys that a day's requests go to. */
export interface DayPlace {
  gateway: string
  platform: string
  admin: string
  /** Key whose calls are charged. */
  charged: string
}

/** Requests that were answered as they should be, by kind, and those that were not. */
export interface DayOutcome {
  answered: Record<string, number>
  /** Charged calls whose reservation ended meanwhile: ten minutes are two seconds of the run. */
  expired: number
  wrong: string[]
}

interface Ask {
  url: string
  key: string
  body?: object
  headers?: Record<string, string>
  /** Statuses that are right; 200 by default. */
  right?: readonly number[]
  /** Given up by the client on purpose, after so many milliseconds. */
  leaves?: number
}

const TICK_MS = 100
/** Requests at a time: one that stays away is a fault that shows. */
const MAX_OPEN = 64
/** Time before the gateway would close a connection in which none is used again, so that a stall of this process meets no close. */
const UNUSED_MS = 30_000
const TEXT = 'What does this change do? '.repeat(40)
const MESSAGES = [{ role: 'user', content: TEXT }]
const CHAT = '/v1/chat/completions'

/** Kinds of requests, how many of a hundred they are, and how one is made. */
const KINDS: Record<string, { share: number; ask: (at: DayPlace, number: number) => Ask }> = {
  chat: { share: 32, ask: ({ gateway, admin }) => ({ url: gateway + CHAT, key: admin, body: chat(false) }) },
  stream: { share: 20, ask: ({ gateway, admin }) => ({ url: gateway + CHAT, key: admin, body: chat(true) }) },
  left: {
    share: 6,
    ask: ({ gateway, admin }) => ({ url: gateway + CHAT, key: admin, body: chat(true), leaves: randomInt(40) }),
  },
  responses: {
    share: 12,
    ask: ({ gateway, admin }) => ({
      url: `${gateway}/v1/responses`,
      key: admin,
      body: { model: 'chat-model', input: TEXT },
    }),
  },
  charged: {
    share: 14,
    ask: ({ gateway, charged }, number) => ({
      url: gateway + CHAT,
      key: charged,
      body: chat(number % 2 === 0),
      headers: {
        'x-gazeway-tags': `team-${number % 7}`,
        'x-claude-code-session-id': `session-${Math.floor(number / 200)}`,
      },
    }),
  },
  repeated: {
    share: 2,
    ask: ({ gateway, charged }, number) => ({
      url: gateway + CHAT,
      key: charged,
      body: chat(false),
      headers: { 'idempotency-key': `once-${Math.floor(number / 100)}` },
      right: [200, 409],
    }),
  },
  stored: {
    share: 3,
    ask: ({ gateway, admin }, number) => ({
      url: `${gateway}/memory/store`,
      key: admin,
      body: { key: `fact/${number % 500}`, value: `Fact ${number}: deployed by hand.`, ttl_seconds: 20_000 },
      right: [200, 201],
    }),
  },
  searched: {
    share: 4,
    ask: ({ platform, admin }) => ({
      url: `${platform}/api/memory/search`,
      key: admin,
      body: { query: 'deployed by hand' },
    }),
  },
  session: {
    share: 3,
    ask: ({ platform, charged }) => ({
      url: `${platform}/api/sessions`,
      key: charged,
      body: { title: TEXT.slice(0, 60) },
      right: [201],
    }),
  },
  gaze: {
    share: 1,
    ask: ({ platform, charged }, number) => ({
      url: `${platform}/api/gaze/store`,
      key: charged,
      body: { session_id: `gaze-${number}`, records: humanStream(number, { records: 20 }) },
      right: [201],
    }),
  },
  refused: {
    share: 2,
    ask: ({ gateway }) => ({ url: gateway + CHAT, key: 'gzw_nobody', body: chat(false), right: [401] }),
  },
  scraped: { share: 1, ask: ({ gateway, admin }) => ({ url: `${gateway}/metrics`, key: admin }) },
}

const chat = (stream: boolean) => ({ model: 'chat-model', max_tokens: 50, messages: MESSAGES, stream })

/** Sends requests of all kinds at an even pace. @param goesOn called before each tenth of a second; false ends it */
export async function sendDay(
  place: DayPlace,
  { perSecond, goesOn }: { perSecond: number; goesOn: () => boolean },
): Promise<DayOutcome> {
  const agent = new Agent({ connections: MAX_OPEN, pipelining: 1, keepAliveTimeoutThreshold: UNUSED_MS })
  const outcome: DayOutcome = { answered: {}, expired: 0, wrong: [] }
  const wheel = Object.entries(KINDS).flatMap(([kind, { share }]) => Array<string>(share).fill(kind))
  const open = new Set<Promise<void>>()

  async function send(kind: string, number: number): Promise<void> {
    const {
      url,
      key,
      body,
      headers,
      right = [200],
      leaves,
    } = (KINDS[kind] as (typeof KINDS)[string]).ask(place, number)
    const leaving = leaves === undefined ? null : AbortSignal.timeout(leaves)
    try {
      const reply = await request(url, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...headers },
        dispatcher: agent,
        ...(body && { body: JSON.stringify(body) }),
        ...(leaving && { signal: leaving }),
      })
      const text = await reply.body.text()
      if (right.includes(reply.statusCode)) outcome.answered[kind] = (outcome.answered[kind] ?? 0) + 1
      else if (/after its reservation had expired/.test(text)) outcome.expired++
      else outcome.wrong.push(`${kind}: ${reply.statusCode} ${text.slice(0, 300)}`)
    } catch (error) {
      if (!leaving?.aborted) outcome.wrong.push(`${kind}: ${String(error)}`)
      else outcome.answered[kind] = (outcome.answered[kind] ?? 0) + 1
    }
  }

  const began = performance.now()
  for (let sent = 0; goesOn(); await pause(TICK_MS)) {
    const due = ((performance.now() - began) / 1000) * perSecond
    for (; sent < due && open.size < MAX_OPEN; sent++) {
      const one: Promise<void> = send(wheel[randomInt(wheel.length)] as string, sent).finally(() => open.delete(one))
      open.add(one)
    }
  }
  await Promise.all(open)
  await agent.close()
  return outcome
}
