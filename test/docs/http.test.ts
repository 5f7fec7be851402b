import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { until } from '../doubles/until.ts'
import { type GatewayProcess, startGatewayProcess } from '../e2e/gateway-process.ts'
import { CLI, newPlace, type Place } from '../e2e/server.ts'
import { blocksOf, codeIn, tableUnder } from './markdown.ts'

const run = promisify(execFile)
const page = readFileSync('docs/reference/http.md', 'utf8')
const requests = blocksOf(page)
  .filter(({ language }) => language === 'bash')
  .flatMap(({ text }) => text.trim().split('\n'))
  .filter((line) => line.startsWith('curl ') && line.includes(':8811/'))

describe('a request in docs/reference/http.md', () => {
  let gateway: GatewayProcess
  before(async () => {
    gateway = await startGatewayProcess(newPlace(), { env: { GAZEWAY_UPSTREAM: 'sandbox' } })
  })

  it('is there for each endpoint', () => {
    const shown = new Set(requests.map((line) => /:8811(\/[\w/.-]+)/.exec(line)?.[1]))
    const served = tableUnder(page, 'Endpoints').flatMap(([endpoint = '']) => codeIn(endpoint))
    const paths = served.map((endpoint) => endpoint.split(' ')[1] ?? '').filter((path) => !path.includes('{'))
    assert.deepEqual([...shown].sort(), paths.sort())
  })

  for (const line of requests)
    it(`is answered: ${line.slice(0, 90)}`, async () => {
      const command = line.replaceAll('http://127.0.0.1:8811', gateway.url).replace('curl ', 'curl --fail-with-body ')
      const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, GAZEWAY_KEY: gateway.key } })
      assert.ok(stdout.length > 0)
      if (line.includes('"stream": true')) assert.ok(stdout.trimEnd().endsWith('data: [DONE]'))
      else if (!/\/(metrics|llms\.txt)/.test(line)) assert.equal(JSON.parse(stdout).error ?? null, null)
    })
})

describe('an example in docs/reference/http.md', () => {
  let gateway: GatewayProcess
  let place: Place
  const shown = (language: string) => blocksOf(page).find((block) => block.language === language)?.text ?? ''
  before(async () => {
    place = newPlace()
    gateway = await startGatewayProcess(place, { env: { GAZEWAY_UPSTREAM: 'sandbox' } })
  })

  it('makes, lists, rotates and revokes a key', async () => {
    const commands = shown('console').trim().split('\n')
    assert.equal(commands.length, 4)
    const [create = '', list = '', rotate = '', revoke = ''] = commands.map((line) => line.replace('$ gazeway ', ''))
    const enter = (line: string) => run(process.execPath, [CLI, ...line.split(' ')], { env: place.env })
    const made = await enter(create)
    const token = /gzw_[\w-]+/.exec(made.stdout)?.[0] ?? ''
    const listed = await enter(list)
    assert.match(listed.stdout, /^key_\w+.*laptop/m)
    const models = (key = token) => fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    assert.equal((await models()).status, 200)
    const rotated = await enter(rotate)
    assert.equal((await models(rotated.stdout.trim())).status, 200)
    await enter(revoke)
    await until(async () => (await models()).status === 401, { seconds: 5 })
  })
})
