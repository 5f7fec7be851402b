import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type SkillFolders, skillFolders, skillText } from '../skills/folders.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = Record<string, any>

describe('skills over REST', () => {
  let folders: SkillFolders
  let running: RunningPlatform

  before(async () => {
    folders = skillFolders()
    folders.write('project/.claude/skills/docs/pdf/SKILL.md', skillText({ name: 'pdf', description: 'Reads PDFs.' }))
    folders.write('project/.agents/skills/broken/SKILL.md', 'nothing')
    // No folder of the user who runs the tests.
    const skills = { project: `${folders.folder}/project`, user_folders: [] }
    running = await startPlatform('sandbox', { document: { skills } })
  })
  after(async () => {
    await running.close()
    folders.remove()
  })

  const get = (path: string) => ask(running, 'GET', path)
  const json = async (path: string) => (await (await get(path)).json()) as Json

  it('are listed under both names, and filtered', async () => {
    const { items, skills, total, warnings, upstream_error } = await json('/api/skills')
    assert.deepEqual(
      items.map(({ id, category, error }: Json) => [id, category, error !== null]),
      [
        ['broken', null, true],
        ['pdf', 'docs', false],
      ],
    )
    assert.deepEqual([skills, total, warnings, upstream_error], [items, 2, [], null])
    assert.deepEqual((await json('/api/skills?category=docs')).total, 1)
    assert.deepEqual((await json('/api/skills?search=reads')).items[0].id, 'pdf')
    assert.equal((await get('/api/skills?colour=red')).status, 422)
  })

  it('have categories', async () => {
    const { categories, items, total } = await json('/api/skills/categories')
    assert.deepEqual([categories, items, total], [[{ name: 'docs', count: 1 }], categories, 1])
  })

  it('are listed with a warning where the list of categories has their path', async () => {
    folders.write(
      'project/.agents/skills/categories/SKILL.md',
      skillText({ name: 'categories', description: 'Sorts.' }),
    )
    const { warnings, total } = await json('/api/skills')
    assert.deepEqual([total, warnings.length], [3, 1])
    assert.match(warnings[0], /"categories" cannot be read/)
    assert.ok('categories' in (await json('/api/skills/categories')))
    assert.deepEqual((await json('/api/skills?search=reads')).warnings, [])
  })

  it('are returned one by one with their instructions', async () => {
    const skill = await json('/api/skills/pdf')
    assert.deepEqual([skill.name, skill.content, skill.source], ['pdf', 'Do it well.\n', 'project'])
    const unknown = await get('/api/skills/..%2f..%2fetc%2fpasswd')
    assert.deepEqual([unknown.status, (await errorOf(unknown)).code], [404, 'not_found'])
    assert.equal((await ask(running, 'DELETE', '/api/skills/pdf')).status, 405)
    assert.equal((await ask(running, 'GET', '/api/skills', { key: null })).status, 401)
  })
})

/** As frontends of an agent gateway look for what there is: 404 and 403 count as missing. */
describe('a frontend that probes the platform', () => {
  let running: RunningPlatform
  before(async () => {
    running = await startPlatform('sandbox')
  })
  after(() => running.close())

  for (const path of [
    '/health',
    '/v1/models',
    '/api/sessions',
    '/api/skills',
    '/api/memory',
    '/api/config',
    '/api/jobs',
    '/api/mcp',
  ])
    it(`finds ${path}`, async () => assert.equal((await ask(running, 'GET', path)).status, 200))

  it('finds the chat completions, which take no GET', async () => {
    assert.equal((await ask(running, 'GET', '/v1/chat/completions')).status, 405)
  })

  it('finds the session chat, which refuses a message without text before it looks for the session', async () => {
    const reply = await ask(running, 'POST', '/api/sessions/__probe__/chat/stream', { body: {} })
    assert.equal(reply.status, 400)
    assert.equal((await ask(running, 'GET', '/api/sessions/__probe__/chat/stream')).status, 405)
  })

  it('finds no jobs and no MCP servers, in the form that it reads', async () => {
    assert.deepEqual(await (await ask(running, 'GET', '/api/jobs')).json(), { jobs: [] })
    assert.deepEqual(await (await ask(running, 'GET', '/api/mcp')).json(), { servers: [] })
  })
})
