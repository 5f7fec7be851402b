import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, it } from 'node:test'
import type { OpenApi } from '../../adapters/platform/openapi.ts'
import { SCHEMA_NAMES } from '../../adapters/platform/schema-names.ts'
import { apiTypes } from '../../scripts/docs/api-types.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const TYPES = 'adapters/console/web/api-types.ts'
/** `npm run api` writes what follows from the description. */
const WRITES = process.env.GAZEWAY_WRITE_API === '1'
// Linters are loaded by name: they find their own files by where they are.
const load = createRequire(`${process.cwd()}/package.json`)

describe('the description of the API', () => {
  let running: RunningPlatform
  let text: string
  let described: OpenApi
  before(async () => {
    running = await startPlatform('sandbox')
    text = await (await fetch(`${running.url}/openapi.json`)).text()
    described = JSON.parse(text)
  })
  after(() => running.close())

  const operations = () =>
    Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    )

  it('has nothing that Redocly would report', async () => {
    const { createConfig, lintFromString } = load('@redocly/openapi-core')
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
    assert.deepEqual(
      problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`),
      [],
    )
    const broken = text.replace('"operationId":"rotateKey"', '"operationId":"listKeys"')
    assert.notEqual((await lintFromString({ source: broken, absoluteRef: 'openapi.json', config })).length, 0)
  })

  it('has nothing that Spectral would report', async () => {
    const { Spectral } = load('@stoplight/spectral-core')
    const { oas } = load('@stoplight/spectral-rulesets')
    const spectral = new Spectral()
    spectral.setRuleset({ extends: [oas] })
    const problems = await spectral.run(described)
    assert.deepEqual(
      problems.map(({ code, path }: Record<string, unknown>) => `${code}: ${path}`),
      [],
    )
    const { info, ...rest } = described
    assert.notEqual((await spectral.run({ ...rest, info: { title: info.title } })).length, 0)
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

  it('is what the types of the console were generated from', async () => {
    const expected = await apiTypes(described)
    if (WRITES) writeFileSync(TYPES, expected)
    assert.ok(readFileSync(TYPES, 'utf8') === expected, `${TYPES} is behind the routes: run npm run api.`)
  })
})
