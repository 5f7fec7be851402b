import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { newPlace, run } from '../e2e/server.ts'
import { sectionOf } from './markdown.ts'
import { commandsOf, enter, type Told, walkThrough } from './walkthrough.ts'

const page = (name: string) => readFileSync(`docs/reference/${name}.md`, 'utf8')

describe('docs/reference/platform.md', () => {
  let told: Told[]
  before(async () => {
    told = await walkThrough(page('platform'))
  })

  it('looks at the platform, and asks a model', () => {
    const output = told[0]?.stdout ?? ''
    assert.match(output, /^\{"status":"ok",/)
    assert.match(output, /"\/api\/wallet\/metered\/call"/)
    assert.match(output, /"price_per_1k_tokens_usd":0\.003/)
    assert.match(output, /\[sandbox\]/)
  })

  it('makes a key that no reply shows', () => assert.doesNotMatch(told[0]?.stdout ?? '', /gzw_[0-9a-f]/))
})

describe('docs/reference/tasks.md', () => {
  let told: Told[]
  before(async () => {
    told = await walkThrough(page('tasks'))
  })

  it('shows the plan of a dry run in its own ids', () =>
    assert.match(
      told[0]?.stdout ?? '',
      /"swarm_id":null,.*"edges":\[\["t1","t3"\],\["t2","t3"\]\],"order":\["t1","t2","t3"\]/,
    ))

  it('makes the tasks of a swarm, of which one waits for the others', () => {
    assert.match(told[1]?.stdout ?? '', /"reward_usd":1,"capabilities":\[\],"status":"open"/)
    assert.match(
      told[1]?.stdout ?? '',
      /"items":\[\{"id":"task_\w+","title":"Write a comparison"[^\]]*\}?\]?.*"total":1/,
    )
    assert.match(told[1]?.stdout ?? '', /"reward_usd":\{"locked":3,"paid":0,"refunded":0\}/)
  })

  it('completes a task', () =>
    assert.match(told[2]?.stdout ?? '', /"status":"completed".*"result":"They are complete\."/))
})

describe('docs/reference/store.md', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.remove())

  it('moves a store', async () => {
    const blocks = commandsOf(sectionOf(page('store'), 'How to move'))
    assert.equal(blocks.length, 1)
    const url = await server.database()
    const place = newPlace()
    assert.equal((await run(place, ['key', 'create', '--name', 'moved'])).code, 0, 'there is a store to move')
    const sandbox = { ...place, env: { ...place.env, GAZEWAY_UPSTREAM: 'sandbox' } }
    const here = (text: string) => text.replaceAll(/postgres:\/\/[^']+/g, url)
    const [moved] = await enter(blocks, sandbox, here)
    assert.match(moved?.stdout ?? '', /counts and sums agree\.[\s\S]*ok +store +postgres/)
    assert.match((await run(place, ['key', 'list'])).stdout, /moved/)
  })
})

describe('docs/reference/memory.md', () => {
  it('exports memories, and imports them and those of another server', async () => {
    const place = newPlace()
    const observed = { type: 'entity', name: 'Ada', entityType: 'person', observations: ['Reviews on Fridays'] }
    writeFileSync(join(place.home, 'memory.jsonl'), `${JSON.stringify(observed)}\n`)
    await enter(commandsOf(page('memory')), place, (text) => text)
    const { stdout } = await run(place, ['memory', 'export'])
    assert.match(stdout, /"key":"Ada","namespace":"graph"/)
  })
})

describe('docs/reference/sessions.md', () => {
  let told: Told[]
  before(async () => {
    told = await walkThrough(page('sessions'))
  })

  it('answers with what is remembered, whole and streamed, and keeps the session', () => {
    const output = told[0]?.stdout ?? ''
    assert.match(output, /"object":"session.chat.completion","content":"\[sandbox\].*Thursdays/)
    assert.match(output, /event: assistant\.delta\ndata: .*\n[\s\S]*event: done/)
    assert.match(output, /"object":"list","session_id":"release",.*"total":4/)
  })

  it('changes the configuration', () => {
    const output = told[1]?.stdout ?? ''
    assert.match(output, /"changed":\["gaze\.min_score","pricing\.margin_usd"\]/)
    assert.match(output, /"provider":"sandbox"/)
  })
})

describe('docs/reference/socket.md', () => {
  it('makes a ticket that nothing shows again', async () => {
    const [told] = await walkThrough(page('socket'))
    const [made = '', listed = ''] = (told?.stdout ?? '').match(/\{.*?\}(?=\{|$)/gm) ?? []
    assert.match(made, /"url":"ws:\/\/127\.0\.0\.1:\d+\/agent","ticket":"gzt_/)
    assert.match(listed, /"items":\[\]/, 'nobody has connected with it yet')
    assert.doesNotMatch(listed, /gzt_/)
  })
})
