import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { MAX_RUNNING, TASK_TTL_MS, type TaskState, taskFiles } from '../../adapters/stdio/tasks/task-files.ts'

const LONG_AGO = '2026-01-01T00:00:00.000Z'

function openTasks(t: TestContext) {
  const data = mkdtempSync(join(tmpdir(), 'gazeway-tasks-'))
  t.after(() => rmSync(data, { recursive: true }))
  const folder = join(data, 'mcp-tasks')
  const files = taskFiles(data)
  const called = (created_at = new Date().toISOString()) => ({
    name: 'gateway_llm_query',
    arguments: {},
    roots: [],
    traceparent: null,
    created_at,
  })
  const create = async (created_at?: string) => {
    const id = await files.create(called(created_at))
    assert.ok(id)
    return id
  }
  /** Makes a file or folder of a task older. */
  const age = (ms: number, ...path: string[]) => {
    const at = (Date.now() - ms) / 1000
    utimesSync(join(folder, ...path), at, at)
  }
  return { files, folder, called, create, age }
}

describe('tasks on disk', () => {
  it('run up to a number at once, and another one once a process has ended', async (t) => {
    const { files, called, create, age } = openTasks(t)
    const ids: string[] = []
    for (let i = 0; i < MAX_RUNNING; i++) ids.push(await create())
    assert.equal(await files.create(called()), null)
    const [id = ''] = ids
    await files.write(id, { status: 'completed', updated_at: LONG_AGO, pid: 1, result: {} })
    age(10_001, id, 'state.json')
    await create()
  })

  it('are not kept from being made by folders of tasks that never were', async (t) => {
    const { folder, create, age } = openTasks(t)
    for (let i = 0; i < 200; i++) {
      const name = randomUUID()
      mkdirSync(join(folder, name), { recursive: true })
      age(61_000, name)
    }
    const id = await create()
    assert.deepEqual(readdirSync(folder), [id])
  })

  it('are unknown once they have expired, and are removed with the next one', async (t) => {
    const { files, folder, create, age } = openTasks(t)
    const old = await create(new Date(Date.now() - TASK_TTL_MS - 1).toISOString())
    assert.equal(await files.call(old), null)
    age(TASK_TTL_MS + 1_000, old, 'call.json')
    const young = await create()
    assert.deepEqual(readdirSync(folder), [young])
    assert.ok(await files.call(young))
  })

  it('have ended where another process has the number of theirs, and not after a pause of the machine', async (t) => {
    const { files, called, create } = openTasks(t)
    const [id, paused] = [await create(), await create()]
    const working: TaskState = { status: 'working', updated_at: LONG_AGO, pid: process.pid }
    await files.write(id, working)
    await files.write(paused, working)
    const looks = [id, paused].map((one) => files.hasEnded(one, called(), working))
    await files.write(paused, { ...working, updated_at: new Date().toISOString() })
    assert.deepEqual(await Promise.all(looks), [true, false])
  })
})
