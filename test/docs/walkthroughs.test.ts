import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { freePort } from '../doubles/free-port.ts'
import { newPlace, run } from '../e2e/server.ts'
import { blocksOf, sectionOf } from './markdown.ts'
import { commandsOf, enter, type Told, walkThrough } from './walkthrough.ts'

const readme = readFileSync('README.md', 'utf8')

describe('README.md on the platform', () => {
  const section = sectionOf(readme, 'The platform')
  let told: Told[]
  before(async () => {
    told = await walkThrough(section)
  })

  /** What the block printed that has `part` in it. */
  const said = (part: string) => told.find(({ text }) => text.includes(part))?.stdout ?? ''
  /** The replies of a block's requests, each one line of JSON. */
  const replies = (part: string) => said(part).match(/\{.*\}(?=\{|$)/gm) ?? []

  it('makes a key that no reply shows', () => assert.ok(!told.some(({ stdout }) => /gzw_[0-9a-f]/.test(stdout))))

  it('shows the receipt as it is', () => {
    const [shown] = blocksOf(section).filter(({ language }) => language === 'json')
    const own = (text: string) => ({ ...JSON.parse(text), call_id: '', latency_ms: 0 })
    assert.deepEqual(own(said('/metered/call')), own(shown?.text ?? ''))
  })

  it('shows what is left, what was used, and what it costs', () => {
    const output = said('/metered/usage')
    assert.match(output, /"available_usd":-0\.080147,.*"budgets":\[\{"per":"day","usd":5/)
    assert.match(output, /"totals":\{"calls":1,"total_tokens":49,.*"groups":\[\{"key":"\d{4}-\d\d-\d\d"/)
    assert.match(output, /\ncall_id,at,|\}call_id,at,/)
    assert.match(output, /"price_per_1k_tokens_usd":0\.003/)
  })

  it('credits a deposit to the key', () => {
    const [deposit = ''] = replies('/metered/deposit')
    assert.equal(JSON.parse(deposit).available_usd, 4.919853)
  })

  it('passes /v1 on to the gateway', () => assert.match(said('/v1/chat/completions'), /\[sandbox\]/))

  it('tells how it is, and describes itself', () => {
    assert.match(said('/openapi.json'), /^\{"status":"ok",/)
    assert.match(said('/openapi.json'), /"\/api\/wallet\/metered\/call"/)
  })
})

describe('README.md on tasks', () => {
  const section = sectionOf(readme, 'Tasks, swarms and escrow')
  // What the last block shows takes a chain and is started by itself: demo-escrow.test.ts does.
  const walked = section.replace(/```sh\nnpm run demo -- --escrow\n```\n/, '')
  let told: Told[]
  before(async () => {
    assert.notEqual(walked, section)
    told = await walkThrough(walked)
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

describe('README.md on PostgreSQL', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.remove())

  it('moves a store, and finds it well', async () => {
    const commands = commandsOf(sectionOf(readme, 'Many machines: PostgreSQL'))
    assert.equal(commands.length, 1)
    const url = await server.database()
    const place = newPlace()
    assert.equal((await run(place, ['key', 'create', '--name', 'moved'])).code, 0, 'there is a store to move')
    const sandbox = { ...place, env: { ...place.env, GAZEWAY_UPSTREAM: 'sandbox' } }
    const named = /postgres:\/\/[^']+/g
    assert.match(commands[0]?.text ?? '', named)
    const [told] = await enter(commands, sandbox, (text) => text.replaceAll(named, url))
    assert.match(told?.stdout ?? '', /counts and sums agree\.[\s\S]*ok +store +postgres/)
  })
})

describe('README.md on sessions, skills and the agent', () => {
  let told: Told[]
  before(async () => {
    told = await walkThrough(sectionOf(readme, 'Sessions, skills and the agent'))
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

  it('makes a ticket that nothing shows again', () => {
    const [made = '', listed = ''] = (told[2]?.stdout ?? '').match(/\{.*?\}(?=\{|$)/gm) ?? []
    assert.match(made, /"url":"ws:\/\/127\.0\.0\.1:\d+\/agent","ticket":"gzt_/)
    assert.doesNotMatch(listed, /gzt_/)
  })
})

describe('docs/guides/budgets.md', () => {
  let told: Told[]
  before(async () => {
    // Whoever reads the page has this port free.
    const port = String(await freePort())
    told = await walkThrough(readFileSync('docs/guides/budgets.md', 'utf8').replaceAll('9123', port))
  })
  const said = (part: string) => told.find(({ text }) => text.includes(part))?.stdout ?? ''

  it('makes a group with five keys and a key of a customer', () => {
    const list = said('key list\n')
    assert.match(list, /ann +inference +team +- +recorded +2 a day/)
    assert.match(list, /customer +inference,platform +- +- +metered +credit 0\.5/)
    assert.match(list, /eve +inference +team +- +recorded +0\.01 a day/)
  })

  it('says what a charged call cost, and nothing of the sort to the team', () =>
    assert.deepEqual(said('curl -i').match(/^x-gazeway-cost-usd: .*$/gim)?.length, 1))

  it('refuses what a budget does not reach for, and answers once it is raised', () => {
    assert.match(said('|| true\n'), /\[sandbox\][\s\S]*"code":"budget_reached"/)
    assert.match(
      said('PATCH http://127.0.0.1:8812/api/keys'),
      /"usd":1,"per":"day"[\s\S]*\[sandbox\][\s\S]*\[sandbox\]/,
    )
  })

  it('opens with both secrets of a rotated key', () =>
    assert.match(said('key rotate'), /bob\.key works\nbob\.new works/))

  it('lists who is about to run dry', () => {
    assert.match(said('--burn'), /^ID +NAME +BALANCE USD/)
    assert.match(said('--burn'), /"kind":"group","name":"team"/)
  })

  it('sends an alert', () => assert.match(said('alert.json &'), /"type":"budget\.spent".*"name":"team".*"at":0\.8/))
})

describe('docs/guides/routes.md', () => {
  let told: Told[]
  before(async () => {
    // Whoever reads the page has nothing at this port.
    const port = String(await freePort())
    const page = readFileSync('docs/guides/routes.md', 'utf8')
    told = await walkThrough(page.replaceAll('http://127.0.0.1:9/', `http://127.0.0.1:${port}/`))
  })
  const said = (part: string) => told.find(({ text }) => text.includes(part))?.stdout ?? ''

  it('adds an upstream, whose models can be asked for by its name', () => {
    assert.match(said('"upstreams.backup"'), /"changed":\["upstreams\.backup","upstreams\.broken"\]/)
    assert.match(said('cat > ask.json'), /x-gazeway-upstream: backup\r\nx-gazeway-attempts: 1\r\n[\s\S]*\[sandbox\]/)
  })

  it('adds a route whose second candidate answers, and shows both attempts', () => {
    assert.match(said('"routes"'), /x-gazeway-upstream: backup\r\nx-gazeway-attempts: 2\r\n[\s\S]*\[sandbox\]/)
    assert.match(
      said('/api/calls'),
      /"upstream":"backup".*"fallback_from":"call_.*"upstream":"broken".*"status":"error"/,
    )
    assert.doesNotMatch(said('"upstreams.backup"') + said('/api/calls'), /a-key-of-broken/)
  })

  it('lists what can be asked for, and checks it', () => {
    assert.match(said('/v1/models'), /"id":"smart".*"id":"llm-3-fast".*"id":"backup\/llm-3-fast"/)
    assert.match(said('/v1/models'), /ok +upstream backup +backup answers at/)
    assert.match(said('/v1/models'), /FAIL +upstream broken +.*could not be reached/)
    assert.match(said('/v1/models'), /ok +routes +2 routes between 3 upstreams/)
  })

  it('shows the state of each upstream', () =>
    assert.match(said('/health'), /"status":"ok".*\{"name":"broken","configured":true,"reachable":false\}/))

  it('says who answers for a model, and tests a candidate', () =>
    assert.match(said('/api/candidates'), /"by":"route","route":0,.*"upstream":"broken".*"ok":true,"status":200/))
})
