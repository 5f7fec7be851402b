import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithTests } from './end-with-tests.ts'

/** The key that the agent gateway asks for. */
export const AGENT_KEY = 'agent-gateway-key-0123456789'

/** A session in the agent gateway's own format. */
export interface AgentSession {
  id: string
  title: string | null
  source: string
  last_active: number
  preview: string
}

/** An agent gateway on a free port, which answers like Hermes Agent's API server of a version. */
export interface AgentGatewayDouble {
  url: string
  /** `METHOD path` of each request, in order. */
  received: string[]
  sessions: Map<string, AgentSession>
  messages: Map<string, { role: string; content: unknown; timestamp: number }[]>
  skills: { name: string; description: string; category: string | null }[]
  /** Sets a behaviour that replaces answers from now on. Held chats get the next behaviour. */
  behave(how: 'well' | 'hangs' | 'dies' | 'breaks off' | 'fails' | 'stays open' | 'says no more' | 'holds'): void
  close(): Promise<void>
}

/**
 * Starts it. Routes by version, as upstream's releases have them: `/v1/capabilities` from 0.12; sessions and skills over
 * the API server in the later ones of 0.12 to 0.16, which are what this double is; a version in `/health` from 0.17.
 */
export async function startAgentGateway(version: '0.11' | '0.12' | '0.17'): Promise<AgentGatewayDouble> {
  const received: string[] = []
  const sessions = new Map<string, AgentSession>()
  const messages: AgentGatewayDouble['messages'] = new Map()
  const skills: AgentGatewayDouble['skills'] = []
  let behaviour: Parameters<AgentGatewayDouble['behave']>[0] = 'well'
  const changes = new EventEmitter()

  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request
    received.push(`${method} ${url}`)
    if (behaviour === 'dies') return request.socket.destroy()
    if (behaviour === 'hangs') return
    const { pathname, searchParams } = new URL(url, 'http://double')
    if (pathname === '/health') return send(response, 200, health())
    if (request.headers.authorization !== `Bearer ${AGENT_KEY}`) return fail(response, 401, 'Invalid API key')
    if (behaviour === 'fails') return fail(response, 500, 'Session database unavailable')
    if (version === '0.11') return fail(response, 404, 'Not found')
    if (pathname === '/v1/capabilities') return send(response, 200, CAPABILITIES)
    if (pathname === '/v1/skills') return send(response, 200, { object: 'list', data: skills })
    if (pathname === '/api/sessions') return send(response, 200, list(searchParams))
    const [, id = '', rest = ''] = /^\/api\/sessions\/([^/]+)(.*)$/.exec(pathname) ?? []
    const session = sessions.get(decodeURIComponent(id))
    if (!session) return fail(response, 404, `Session not found: ${id}`)
    await answerIn(session, `${method} ${rest}`, request, response)
  })
  endWithTests(server).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function health() {
    return { status: 'ok', platform: 'hermes-agent', ...(version === '0.17' && { version: '0.17.0' }) }
  }

  function list(query: URLSearchParams) {
    const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
    const newest = [...sessions.values()].sort((a, b) => b.last_active - a.last_active)
    const data = newest.slice(offset, offset + Math.min(limit, 200)).map(shown)
    return { object: 'list', data, limit, offset, has_more: data.length === limit }
  }

  async function answerIn(session: AgentSession, what: string, request: IncomingMessage, response: ServerResponse) {
    const { id } = session
    if (behaviour === 'holds' && what.startsWith('POST /chat')) await once(changes, 'behaviour')
    const said = messages.get(id) ?? []
    if (what === 'GET ') return send(response, 200, { object: 'hermes.session', session: shown(session) })
    if (what === 'GET /messages') {
      const data = said.map((message, i) => ({ id: i + 1, session_id: id, tool_calls: null, ...message }))
      return send(response, 200, { object: 'list', session_id: id, data })
    }
    if (what === 'DELETE ') {
      sessions.delete(id)
      return send(response, 200, { object: 'hermes.session.deleted', id, deleted: true })
    }
    const body = JSON.parse(await textOf(request)) as { title?: string; message?: string }
    if (what === 'PATCH ') {
      session.title = body.title ?? null
      return send(response, 200, { object: 'hermes.session', session: shown(session) })
    }
    if (what !== 'POST /chat' && what !== 'POST /chat/stream') return fail(response, 405, 'Method not allowed')
    if (!body.message) return fail(response, 400, 'Missing message')
    const answer = `You said: ${body.message}`
    const keep = () => messages.set(id, [...said, turn('user', body.message ?? ''), turn('assistant', answer)])
    if (what === 'POST /chat') {
      keep()
      const message = { role: 'assistant', content: answer }
      return send(response, 200, { object: 'hermes.session.chat.completion', session_id: id, message, usage: USAGE })
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const event = (name: string, data: object) =>
      response.write(`event: ${name}\ndata: ${JSON.stringify({ session_id: id, run_id: 'run_1', ...data })}\n\n`)
    event('run.started', { user_message: { role: 'user', content: body.message } })
    event('message.started', { message: { id: 'msg_1', role: 'assistant' } })
    response.write(': keepalive\n\n')
    event('tool.started', { tool_name: 'terminal', preview: 'ls' })
    event('assistant.delta', { message_id: 'msg_1', delta: 'You said: ' })
    // What was written arrives; then the connection ends without an end of the reply.
    if (behaviour === 'breaks off') return void response.write('\n', () => response.socket?.end())
    event('assistant.delta', { message_id: 'msg_1', delta: body.message })
    keep()
    event('assistant.completed', { message_id: 'msg_1', content: answer, completed: true })
    event('run.completed', { message_id: 'msg_1', completed: true, messages: [], usage: USAGE })
    // What is complete does not end: with the last event that tells so, or without.
    if (behaviour === 'says no more') return
    event('done', {})
    if (behaviour === 'stays open') return
    response.end('data: [DONE]\n\n')
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    sessions,
    messages,
    skills,
    behave(how) {
      behaviour = how
      changes.emit('behaviour')
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const CAPABILITIES = {
  object: 'hermes.api_server.capabilities',
  platform: 'hermes-agent',
  features: { session_resources: true, session_chat: true, session_chat_streaming: true, skills_api: true },
}
const USAGE = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }

const turn = (role: string, content: string) => ({ role, content, timestamp: 1_790_000_000 })

/** A session in the format of the API server. */
const shown = (session: AgentSession) => ({
  ...session,
  user_id: null,
  model: 'hermes-agent',
  started_at: session.last_active - 60,
  ended_at: null,
  end_reason: null,
  message_count: 2,
  tool_call_count: 1,
  input_tokens: 3,
  output_tokens: 4,
  cache_read_tokens: 0,
  estimated_cost_usd: 0.001,
  parent_session_id: null,
  has_system_prompt: true,
  has_model_config: false,
})

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const fail = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, { error: { message, type: 'invalid_request_error' } })

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
