import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { newPlace, run } from '../e2e/server.ts'
import { commandsOf, enter, type Told, walkThrough } from './walkthrough.ts'

const page = (name: string) => readFileSync(`docs/reference/${name}.md`, 'utf8')

describe('docs/reference/memory.md', () => {
  it('exports memories, and imports them and those of another server', async () => {
    const place = newPlace()
    const observed = { type: 'entity', name: 'Ada', entityType: 'person', observations: ['Reviews on Fridays'] }
    writeFileSync(join(place.home, 'memory.jsonl'), `${JSON.stringify(observed)}\n`)
    const fact = join(place.home, 'fact.jsonl')
    writeFileSync(fact, `${JSON.stringify({ key: 'deploy/staging', value: 'uses the eu-west cluster' })}\n`)
    assert.equal((await run(place, ['memory', 'import', fact])).code, 0)
    const told = await enter(commandsOf(page('memory')), place, (text) => text)
    assert.match(told[0]?.stdout ?? '', /stored: 0, unchanged: 1[\s\S]*stored: 1, unchanged: 0/)
    const { stdout } = await run(place, ['memory', 'export'])
    assert.match(stdout, /"key":"Ada","namespace":"graph"/)
  })
})

describe('docs/reference/sessions.md', () => {
  let told: Told[]
  before(async () => {
    told = await walkThrough(page('sessions'))
  })

  it('answers whole and streamed, and keeps the session', () => {
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
