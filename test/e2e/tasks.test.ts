import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import {
  type ConnectedMcpSessionPort,
  resultFromTaskOutcome,
  type TaskEnabledSession,
  withTasks,
} from '@modelcontextprotocol/ext-tasks/client'
import { type JsonValue, taskId } from '@modelcontextprotocol/ext-tasks/core'
import { until } from '../doubles/until.ts'
import { json, type Received, response, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { CLI, newPlace, type Place, watch } from './server.ts'
import { envelope, spawnStateless } from './stateless.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
const KNOWS_TASKS = { extensions: { [TASKS]: {} } }
const QUESTION = { query: 'What changed in PostgreSQL 18?', include_context: false }
const ANSWER = 'It has asynchronous reads.'

/** A question that waits at the provider for its answer. */
interface Waiting {
  request: Received
  answer(): void
}

describe('a long question of a client that knows tasks', () => {
  const place: Place = newPlace()
  const waiting: Waiting[] = []
  let upstream: UpstreamDouble
  before(async () => {
    upstream = await startUpstream()
    upstream.on('/responses', (reply, request) => {
      waiting.push({ request, answer: () => void json(200, response(ANSWER))(reply, request) })
    })
  })
  after(() => upstream.close())
  const nextQuestion = (after: number) => until(() => waiting[after], { seconds: 30 })

  /** A server, and the session of the extension's own client with it. */
  async function open() {
    const server = spawnStateless(place, { env: { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: 'k' } })
    const { result } = await server.ask('discover', 'server/discover')
    assert.deepEqual(result.capabilities.extensions[TASKS], {})
    let asked = 0
    const port: ConnectedMcpSessionPort = {
      endpointId: 'gazeway',
      taskCapabilities: { generation: 'v2', capabilities: {} },
      async dispatch(request) {
        const { method, params = {} } = request as { method: string; params?: Record<string, JsonValue> }
        const { error, result } = await server.ask(`task-${++asked}`, method, params, envelope({}, KNOWS_TASKS))
        return error ? { kind: 'error', error } : { kind: 'result', result }
      },
      onServerRequest: () => () => {},
      onNotification: () => () => {},
      onInvalidated: () => () => {},
      invalidated: false,
    }
    return { server, session: withTasks(port) }
  }

  /** Starts a task, and waits until its question is at the provider. */
  async function begin(session: TaskEnabledSession) {
    const before = waiting.length
    const execution = await session.callTool('gateway_llm_query', QUESTION)
    assert.ok(execution.kind === 'task')
    const id = taskId(execution.handle.taskId)
    await execution.detach()
    return { id, question: await nextQuestion(before) }
  }

  it('goes on while the server is away, and is answered by the next one', async () => {
    const first = await open()
    const { id, question } = await begin(first.session)
    assert.equal((await first.session.task(id).snapshot()).status, 'working')
    first.server.child.kill('SIGKILL')
    await first.server.exit
    question.answer()
    const second = await open()
    const result = resultFromTaskOutcome(await second.session.task(id).result())
    assert.match(JSON.stringify(result.content), new RegExp(ANSWER))
    assert.match(JSON.stringify(result.structuredContent), /"call_id":"/)
    assert.equal(waiting.length, 1, 'it is asked once')
  })

  it('is given up at the provider when its client cancels', async () => {
    const { session } = await open()
    const { id, question } = await begin(session)
    await session.cancelTask(id)
    await question.request.aborted
    await until(async () => (await session.task(id).snapshot()).status === 'cancelled', { seconds: 30 })
  })

  it('asks nothing when its client cancels before its process is there', async () => {
    const { session } = await open()
    const before = waiting.length
    const execution = await session.callTool('gateway_llm_query', QUESTION)
    assert.ok(execution.kind === 'task')
    const id = taskId(execution.handle.taskId)
    await session.cancelTask(id)
    await execution.detach()
    await until(async () => (await session.task(id).snapshot()).status === 'cancelled', { seconds: 30 })
    assert.equal(waiting.length, before)
  })

  it('is answered at once where no process can be started, as after an update of Node', async () => {
    const node = join(place.home, 'node')
    copyFileSync(process.execPath, node)
    const server = watch(spawn(node, [CLI, '--upstream', 'sandbox'], { cwd: place.project, env: place.env }))
    const ask = (id: string, method: string, params = {}) => {
      server.send({ id, method, params: { ...params, _meta: envelope({}, KNOWS_TASKS) } })
      return server.answer(id)
    }
    await ask('discover', 'server/discover')
    rmSync(node)
    const folder = join(place.data, 'mcp-tasks')
    const before = readdirSync(folder)
    const { error, result } = await ask('call', 'tools/call', { name: 'gateway_llm_query', arguments: QUESTION })
    assert.equal(error, undefined)
    assert.match(result.content[0].text, /\[sandbox\]/)
    assert.deepEqual(readdirSync(folder), before)
  })

  it('has failed when its process was killed', async () => {
    const { session } = await open()
    const { id } = await begin(session)
    const file = join(place.data, 'mcp-tasks', id, 'state.json')
    const state = JSON.parse(readFileSync(file, 'utf8'))
    process.kill(state.pid, 'SIGKILL')
    await until(() => !isAlive(state.pid))
    writeFileSync(file, JSON.stringify({ ...state, updated_at: '2026-01-01T00:00:00.000Z' }))
    const outcome = await session.task(id).result()
    assert.throws(() => resultFromTaskOutcome(outcome), /ended before it had a result/)
  })

  it('has the error of the tool as its result', async () => {
    const { session } = await open()
    const execution = await session.callTool('gateway_llm_query', { ...QUESTION, max_tokens: -1 })
    const result = resultFromTaskOutcome((await execution.settle()).outcome)
    assert.equal(result.isError, true)
    assert.match(JSON.stringify(result.content), /validation_failed: max_tokens/)
  })

  it('is answered at once where the client does not declare tasks, which may not see one either', async () => {
    const { server, session } = await open()
    const { id, question } = await begin(session)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await server.ask(method, method, { taskId: id, inputResponses: {} })
      assert.deepEqual([error.code, error.data], [-32021, { requiredCapabilities: KNOWS_TASKS }], method)
    }
    question.answer()
    resultFromTaskOutcome(await session.task(id).result())
    const before = waiting.length
    const asked = server.ask('plain', 'tools/call', { name: 'gateway_llm_query', arguments: QUESTION })
    ;(await nextQuestion(before)).answer()
    assert.equal((await asked).result.structuredContent.answer, ANSWER)
  })

  it('is unknown under another id, also under one that leads out of the folder', async () => {
    const { server } = await open()
    for (const [n, id] of ['5a1d5b4e-53b0-4f0e-9c55-c3b6f5a6c001', '../mcp-tasks', ''].entries()) {
      const { error } = await server.ask(n, 'tasks/get', { taskId: id }, envelope({}, KNOWS_TASKS))
      assert.equal(error.code, -32602)
    }
  })

  it('is no task without the research model among the tools', async () => {
    const server = spawnStateless(place, { args: ['--tools', 'audit'] })
    const { result } = await server.ask(1, 'server/discover')
    assert.deepEqual(result.capabilities, { tools: { listChanged: false } })
  })
})

/** Tells whether a process is there; one that has ended and was not waited for is not. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
