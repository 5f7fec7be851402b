import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = any

/** Fields of a task of Hermes Workspace: https://github.com/outsourc-e/hermes-workspace, src/lib/tasks-api.ts. */
const TASK_FIELDS = [
  'assignee',
  'column',
  'created_at',
  'created_by',
  'description',
  'due_date',
  'id',
  'position',
  'priority',
  'tags',
  'title',
  'updated_at',
]

describe('what Hermes Workspace asks for', () => {
  let running: RunningPlatform
  before(async () => {
    running = await startPlatform('sandbox')
    for (const title of ['Write', 'Read', 'Rest'])
      assert.equal((await ask(running, 'POST', '/api/tasks', { body: { title, capabilities: ['text'] } })).status, 201)
    const { items } = await json('/api/tasks')
    const [last, middle] = items
    assert.equal((await ask(running, 'DELETE', `/api/tasks/${last.id}`)).status, 200)
    await ask(running, 'POST', `/api/tasks/${middle.id}/claim`, { body: { agent: 'ann' } })
  })
  after(() => running.close())

  const json = async (path: string, key: string | null = running.key): Promise<Json> => {
    const reply = await ask(running, 'GET', path, { key })
    assert.equal(reply.status, 200, path)
    return reply.json()
  }

  it('is answered without a key where it sends none: state, model and health', async () => {
    const status = await json('/api/status', null)
    assert.deepEqual(Object.keys(status), ['version', 'claude_home', 'gateway_running', 'gateway_state'])
    assert.deepEqual([status.gateway_running, status.gateway_state], [true, 'running'])
    const model = await json('/api/model/info', null)
    assert.deepEqual([model.model, model.provider], ['llm-3-fast', 'sandbox'])
    assert.equal(model.effective_context_length, model.auto_context_length)
    const health = await json('/health/detailed', null)
    assert.deepEqual([health.status, health.gateway_state, health.platforms], ['ok', 'running', {}])
  })

  it('has profiles and assignees', async () => {
    const { profiles } = await json('/api/profiles')
    assert.deepEqual(profiles, [{ name: 'default', is_default: true, model: 'llm-3-fast', provider: 'sandbox' }])
    const { assignees } = await json('/api/tasks/assignees')
    assert.deepEqual(assignees, [{ id: 'ann', label: 'ann', isHuman: false }])
    assert.equal((await ask(running, 'GET', '/api/tasks/assignees', { key: null })).status, 401)
  })

  it('has tasks on a board, with and without those that are over', async () => {
    const columns = async (done: string) =>
      (await json(`/api/tasks?include_done=${done}`)).tasks.map(({ title, column }: Json) => [title, column])
    const left = [
      ['Read', 'in_progress'],
      ['Write', 'todo'],
    ]
    assert.deepEqual(await columns('true'), [['Rest', 'deleted'], ...left])
    for (const done of ['false', '']) assert.deepEqual(await columns(done), left)
    const { tasks, items } = await json('/api/tasks?include_done=true')
    assert.deepEqual(Object.keys(tasks[0]).sort(), TASK_FIELDS)
    assert.deepEqual([items.length, tasks[1].assignee, tasks[1].tags], [3, 'ann', ['text']])
    assert.equal('tasks' in (await json('/api/tasks')), false)
    assert.equal((await ask(running, 'GET', '/api/tasks?include_done=maybe')).status, 422)
  })

  it('says 404 for what is not here, which the workspace takes for not supported', async () => {
    for (const path of ['/api/sessions/ses_none/runtime', '/v1/commands']) {
      const reply = await ask(running, 'GET', path)
      assert.equal(reply.status, 404, path)
      assert.equal((await errorOf(reply)).code, 'not_found')
    }
  })
})
