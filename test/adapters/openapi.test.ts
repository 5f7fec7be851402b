import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import type { OpenApi } from '../../adapters/platform/openapi.ts'
import { SCHEMA_NAMES } from '../../adapters/platform/schema-names.ts'
import { apiTypes } from '../../scripts/docs/api-types.ts'
import { codeIn, tableUnder } from '../docs/markdown.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const TYPES = 'adapters/console/web/api-types.ts'
/** `npm run api` writes what follows from the description. */
const WRITES = process.env.GAZEWAY_WRITE_API === '1'
/** Endpoints of the gateway that programs do not call by a description: probes, pages and other versions of Google's API. */
const NOT_DESCRIBED = /\/(livez|readyz|metrics|llms\.txt|openapi\.json|docs\/)|v1beta\/models(\/\{model\}|\/\{id\})?$/
// Linters are loaded by name: they find their own files by where they are.
const load = createRequire(`${process.cwd()}/package.json`)

describe('the description of the API', () => {
  let running: RunningPlatform
  let text: string
  let described: OpenApi
  let gateway: OpenApi
  before(async () => {
    running = await startPlatform('sandbox')
    text = await (await fetch(`${running.url}/openapi.json`)).text()
    described = JSON.parse(text)
    const headers = { authorization: `Bearer ${running.admin}` }
    gateway = (await (await fetch(`${running.gatewayUrl}/openapi.json`, { headers })).json()) as OpenApi
  })
  after(() => running.close())

  /** The operations on keys alone, each changed: to lint all of them takes seconds. */
  function part(change: (operation: OpenApi['paths'][string][string]) => object) {
    const paths = Object.entries(described.paths).filter(([path]) => path.startsWith('/api/keys'))
    const changed = paths.map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, change(operation)])),
    ])
    return { ...described, paths: Object.fromEntries(changed) }
  }
  const operations = () =>
    Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    )

  it('has nothing that Redocly would report', async () => {
    const { createConfig, lintFromString } = load('@redocly/openapi-core')
    const config = await createConfig({ extends: ['recommended'] })
    for (const source of [text, JSON.stringify(gateway)]) {
      const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
      assert.deepEqual(
        problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`),
        [],
      )
    }
    const source = JSON.stringify(part((operation) => ({ ...operation, operationId: 'listKeys' })))
    const found = await lintFromString({ source, absoluteRef: 'openapi.json', config })
    assert.ok(found.some(({ ruleId }: Record<string, string>) => ruleId === 'operation-operationId-unique'))
  })

  it('has nothing that Spectral would report', async () => {
    const { Spectral } = load('@stoplight/spectral-core')
    const { oas } = load('@stoplight/spectral-rulesets')
    const spectral = new Spectral()
    spectral.setRuleset({ extends: [oas] })
    for (const document of [described, gateway]) {
      const problems = await spectral.run(document)
      assert.deepEqual(
        problems.map(({ code, path }: Record<string, unknown>) => `${code}: ${path}`),
        [],
      )
    }
    const found = await spectral.run(part(({ tags, ...operation }) => operation))
    assert.ok(found.some(({ code }: Record<string, unknown>) => code === 'operation-tags'))
  })

  it('names the nouns that operations share, and every one of these names is in use', () => {
    const used = new Set(Object.keys(described.components.schemas))
    for (const name of SCHEMA_NAMES.values()) assert.ok(used.has(name) || used.has(`${name}Input`), name)
    for (const name of ['Task', 'Escrow', 'Receipt', 'Key', 'Call', 'Memory', 'Session', 'Error'])
      assert.ok(used.has(name))
    for (const name of used) assert.ok(text.includes(`"#/components/schemas/${name}"`), `${name} is not referred to`)
  })

  it('has operations that are named by a verb and a noun', () => {
    for (const { path, operation } of operations()) {
      assert.match(operation.operationId, /^[a-z]+[A-Za-z]*$/)
      assert.doesNotMatch(operation.operationId, /^(get|post|patch|delete)(Api|WellKnown)|By?Id/, path)
      assert.ok(described.tags.some(({ name, description }) => operation.tags.includes(name) && description !== name))
      assert.ok('4XX' in operation.responses, operation.operationId)
    }
  })

  it('lets replies get more fields, but no body of a request', () => {
    for (const name of ['Key', 'Task', 'Call', 'GazeRecord'])
      assert.ok(!JSON.stringify(described.components.schemas[name]).includes('"additionalProperties":false'), name)
    for (const { operation } of operations())
      assert.ok(!JSON.stringify(operation.responses).includes('"additionalProperties":false'), operation.operationId)
    assert.equal(described.components.schemas.NewKey?.additionalProperties, false)
  })

  it('is of the gateway too: every endpoint of its page, for those with a key', async () => {
    assert.equal((await fetch(`${running.gatewayUrl}/openapi.json`)).status, 401)
    const page = tableUnder(readFileSync('docs/reference/http.md', 'utf8'), 'Endpoints')
    const named = page.flatMap(([endpoint = '']) => codeIn(endpoint))
    const missing = named.filter((endpoint) => {
      const [method = '', path = ''] = endpoint.split(' ')
      return gateway.paths[path]?.[method.toLowerCase()] === undefined
    })
    for (const endpoint of missing) assert.match(endpoint, NOT_DESCRIBED)
    const names = Object.values(gateway.paths).flatMap((methods) =>
      Object.values(methods).map((one) => one.operationId),
    )
    assert.equal(new Set(names).size, names.length)
  })

  it('is of the gateway on the platform too, with the address of the gateway', async () => {
    const there = (await (await fetch(`${running.url}/gateway-openapi.json`)).json()) as OpenApi
    assert.deepEqual({ ...there, servers: [] }, { ...gateway, servers: [] })
    assert.deepEqual([there.servers, gateway.servers], [[{ url: running.gatewayUrl }], [{ url: '/' }]])
  })

  it('says that the gateway is elsewhere where the platform runs alone', async () => {
    const alone = await startPlatform('sandbox', { withHttp: false })
    const there = (await (await fetch(`${alone.url}/gateway-openapi.json`)).json()) as OpenApi
    await alone.close()
    assert.match(there.info.description, /agent_gateway\.url/)
    assert.deepEqual(there.servers, [{ url: '/' }])
  })

  it('is what the types of the console were generated from', async () => {
    const expected = await apiTypes(described)
    if (WRITES) writeFileSync(TYPES, expected)
    assert.ok(readFileSync(TYPES, 'utf8') === expected, `${TYPES} is behind the routes: run npm run api.`)
  })
})
