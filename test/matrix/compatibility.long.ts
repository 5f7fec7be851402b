import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { VERSION } from '../../src/config/version.ts'
import { type RunningGateway, startGateway } from '../adapters/gateway.ts'
import { named } from '../doubles/anthropic.ts'
import { DIALECTS, strictMessages, strictResponses } from '../doubles/dialects.ts'
import { strictChat } from '../doubles/strict.ts'
import { type Behaviour, json, sse, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { ANSWER_QUIRKS, type AnswerQuirk } from './answer-quirks.ts'
import { ask, askAi, askPlain, type Got, type Path } from './clients.ts'
import { type Cell, COLUMNS, type Column, page, type Written, writtenOf } from './page.ts'
import { REQUEST_QUIRKS, type RequestQuirk } from './request-quirks.ts'

const PAGE = 'docs/reference/compatibility.md'
/** Cells that are tried at a time. */
const AT_ONCE = 12

let upstream: UpstreamDouble
let running: RunningGateway
const request = new Map<string, Map<Column, Cell>>()
const answers = new Map<string, Map<Column, Cell>>()
const faults: string[] = []

before(async () => {
  upstream = await startUpstream()
  const at = (provider: string, models: string) => ({
    provider,
    ...(provider !== upstream.url && { base_url: upstream.url }),
    api_keys: ['secret-of-the-double'],
    models: [models],
  })
  const upstreams = {
    servers: at(upstream.url, 'over-chat-*'),
    claude: at('anthropic', 'over-messages-*'),
    openai: at('openai', 'over-responses-*'),
  }
  running = await startGateway(upstream.url, {}, { upstreams })
  upstream.on('/chat/completions', byModel(chatOf))
  upstream.on('/messages', byModel(messagesOf))
  upstream.on('/responses', (reply, received) =>
    modelOf(received.body).startsWith('over-responses-')
      ? byModel(responsesOf)(reply, received)
      : json(404, { error: { message: 'no such route' } })(reply, received),
  )
  await pooled([...requestCells(), ...answerCells()])
})
after(async () => {
  await running.close()
  await upstream.close()
})

describe('the compatibility of clients and providers', () => {
  it('knows at least 120 quirks, each once', () => {
    const names = [...REQUEST_QUIRKS, ...ANSWER_QUIRKS].map(({ kind, what }) => `${kind}: ${what}`)
    assert.ok(names.length >= 120, `${names.length} quirks`)
    assert.equal(new Set(names).size, names.length)
  })

  it('counts a refusal of what Gazeway has converted as a failure, and that of a request as it came as passed on', () => {
    const refused: Got = { said: null, status: 400, reason: 'no such role', field: null, changed: '', faults: [] }
    const words = COLUMNS.map((column) => [column.title, cellOf(refused, column).word])
    const expected = COLUMNS.map(({ title, isNative }) => [title, isNative ? 'passed on' : 'fails'])
    assert.deepEqual(words, expected)
  })

  it('has no cell where a request dies, or an answer is read wrong or out of order', () => {
    assert.deepEqual(faults.join('\n'), '')
  })

  it('is what the page says', () => {
    const shown = (written: Written) =>
      page({ quirks: REQUEST_QUIRKS, cells: request }, { quirks: ANSWER_QUIRKS, cells: answers }, written)
    const isSame = (text: string) => text === shown(writtenOf(text) ?? { date: '', version: '' })
    const date = new Date().toISOString().slice(0, 10)
    // A page that says the same goes on being of its day.
    if (process.env.GAZEWAY_WRITE_PAGES === '1' && !isSame(readFileSync(PAGE, 'utf8')))
      writeFileSync(PAGE, shown({ date, version: VERSION }))
    const text = readFileSync(PAGE, 'utf8')
    assert.equal(
      text,
      shown(writtenOf(text) ?? { date, version: VERSION }),
      `${PAGE} is behind: run this test with GAZEWAY_WRITE_PAGES=1.`,
    )
  })
})

const modelOf = (body: unknown): string => String((body as { model?: unknown }).model)

/** Behaviour for the quirk that the model of a request names: `over-chat-q-12-M`. */
const byModel =
  (of: (kind: string, index: number) => Behaviour): Behaviour =>
  (reply, received) => {
    const [, kind = '', index = ''] = /-([qa])-(\d+)-/.exec(modelOf(received.body)) ?? []
    return of(kind, Number(index))(reply, received)
  }

const chatOf = (kind: string, index: number): Behaviour => {
  if (kind === 'q') return strictChat(...DIALECTS[(REQUEST_QUIRKS[index] as RequestQuirk).at])
  const { chat, whole, end = 'done' } = ANSWER_QUIRKS[index] as AnswerQuirk
  return streamedOr(whole, end === 'packet' ? packet(chat ?? []) : sse(chat ?? [], end === 'named done' ? 'done' : end))
}

const messagesOf = (kind: string, index: number): Behaviour => {
  if (kind === 'q') return strictMessages
  const { messages = [], whole, end = 'none', isUnnamed } = ANSWER_QUIRKS[index] as AnswerQuirk
  const last = end === 'none' || end === 'packet' ? 'end' : end
  return streamedOr(whole, named(messages as object[], last, isUnnamed !== true))
}

const responsesOf = (kind: string, index: number): Behaviour => {
  if (kind === 'q') return strictResponses
  const { responses = [], whole } = ANSWER_QUIRKS[index] as AnswerQuirk
  return streamedOr(whole, sse(responses, 'none'))
}

/** A chat stream that comes whole, with its end. */
const packet =
  (events: unknown[]): Behaviour =>
  (reply) => {
    const told = events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
    reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${told.join('')}data: [DONE]\n\n`)
  }

const streamedOr =
  (whole: unknown, streamed: Behaviour): Behaviour =>
  (reply, received) =>
    ((received.body as { stream?: boolean }).stream === true ? streamed : json(200, whole))(reply, received)

const MODELS = { chat: 'over-chat', messages: 'over-messages', responses: 'over-responses' } as const

const BODIES: Readonly<Record<Path, object>> = {
  M: { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
  R: { input: 'Hello' },
  C: { messages: [{ role: 'user', content: 'Hello' }] },
}

function set(
  cells: Map<string, Map<Column, Cell>>,
  { kind, what }: { kind: string; what: string },
  column: Column,
  cell: Cell,
) {
  const key = `${kind}: ${what}`
  const row = cells.get(key) ?? new Map()
  cells.set(key, row.set(column, cell))
}

function* requestCells(): Generator<() => Promise<void>> {
  for (const [index, quirk] of REQUEST_QUIRKS.entries())
    for (const column of COLUMNS) {
      const fields = quirk.asked[column.path]
      if (fields === undefined) continue
      yield async () => {
        const model = `${MODELS[column.over]}-q-${index}-${column.path}`
        const body = { ...BODIES[column.path], ...fields, model }
        const send = (headers: Record<string, string>) =>
          askPlain(column.path, body, { url: running.url, key: running.key, headers: { ...quirk.headers, ...headers } })
        const cell = cellOf(await send({}), column)
        set(request, quirk, column, cell)
        const where = `${quirk.kind}: ${quirk.what} (${column.title})`
        if (cell.word === 'fails') faults.push(`${where}: ${cell.field}`)
        if (cell.word !== 'refused') return
        const lenient = cellOf(await send({ 'x-gazeway-lenient': 'true' }), column)
        if (lenient.word !== 'mended') faults.push(`${where}, lenient: ${lenient.word} ${lenient.field}`)
      }
    }
}

/**
 * Outcome of a request: `Hello` is what each double answers. A provider's refusal of what Gazeway converted is a failure:
 * the client has said it as its own API does.
 */
function cellOf({ said, status, changed, field, reason }: Got, { isNative }: Column): Cell {
  if (said?.text === 'Hello') return { word: changed === '' ? 'works' : 'mended', field: changed }
  if (/No request was made/.test(reason) && field !== null) return { word: 'refused', field }
  if (status === 400 && isNative) return { word: 'passed on', field: reason }
  return { word: 'fails', field: `${status} ${reason}` }
}

function* answerCells(): Generator<() => Promise<void>> {
  for (const [index, quirk] of ANSWER_QUIRKS.entries()) {
    const over = overOf(quirk)
    for (const column of COLUMNS.filter((one) => one.over === over))
      yield async () => {
        const model = `${MODELS[over]}-a-${index}-${column.path}`
        const door = { url: running.url, key: running.key, headers: {} }
        const where = `${quirk.kind}: ${quirk.what} (${column.title})`
        const forms = [true, ...(quirk.whole === undefined ? [] : [false])]
        let isRead = true
        for (const stream of forms) {
          const got = await ask(column.path, { ...BODIES[column.path], model, stream }, door)
          isRead &&= isDeepStrictEqual(got.said, quirk.expected)
          faults.push(...got.faults.map((fault) => `${where}: ${fault}`))
          // A client of the provider's own API reads what the provider sends; Messages has a form that each SDK reads.
          if (column.isNative && column.path !== 'M') continue
          if (!isDeepStrictEqual(got.said, quirk.expected))
            faults.push(`${where}, stream ${stream}: ${JSON.stringify(got.said)} ${got.reason}`)
        }
        if (column.path !== 'M' && !column.isNative) {
          const read = await askAi(column.path, model, door)
          const { text, calls } = quirk.expected ?? {}
          const expected = quirk.expected === null ? null : { text, calls }
          if (!isDeepStrictEqual(read, expected)) faults.push(`${where}, ai: ${JSON.stringify(read)}`)
        }
        set(answers, quirk, column, { word: isRead ? 'works' : 'passed on', field: '' })
      }
  }
}

function overOf({ messages, responses }: AnswerQuirk): Column['over'] {
  if (responses !== undefined) return 'responses'
  return messages === undefined ? 'chat' : 'messages'
}

async function pooled(work: (() => Promise<void>)[]): Promise<void> {
  const left = work.values()
  const worker = async () => {
    for (const task of left) await task()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  faults.sort()
}
