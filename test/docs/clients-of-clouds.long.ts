import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { API_KEY, startAzure } from '../doubles/clouds/azure.ts'
import { KEYS, MODEL, startBedrock } from '../doubles/clouds/bedrock.ts'
import { EMAIL, startVertex } from '../doubles/clouds/vertex.ts'
import { askClaude } from '../e2e/claude.ts'
import { startGatewayProcess } from '../e2e/gateway-process.ts'
import { askGemini } from '../e2e/gemini.ts'
import { newPlace } from '../e2e/server.ts'
import { blocksOf, sectionOf, variablesOf } from './markdown.ts'

const run = promisify(execFile)
const page = readFileSync('docs/reference/clients.md', 'utf8')

/** Values that a reader fills in, by the texts that stand for them on the page. */
type Filled = Readonly<Record<string, string>>

/** Blocks of a section in one language, with what a reader fills in. Each of it has to stand in the section. */
function shown(cloud: string, language: string, filled: Filled): string[] {
  const section = sectionOf(page, cloud)
  for (const name of Object.keys(filled)) assert.ok(section.includes(name), `${cloud} does not show ${name}`)
  return blocksOf(section)
    .filter((one) => one.language === language)
    .map(({ text }) => Object.entries(filled).reduce((all, [from, to]) => all.replaceAll(from, to), text))
}

/** Starts the gateway with the settings and the variables of a section. @param baseUrl where no setting names the double */
async function startFor(cloud: string, filled: Filled, baseUrl?: string) {
  const [settings = ''] = shown(cloud, 'json', filled)
  const [start = ''] = shown(cloud, 'shell', filled)
  assert.match(start, /^gazeway --http$/m)
  const { upstreams } = JSON.parse(settings)
  if (baseUrl !== undefined)
    for (const upstream of Object.values<object>(upstreams)) Object.assign(upstream, { base_url: baseUrl })
  const place = newPlace()
  mkdirSync(place.data, { mode: 0o700 })
  writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstreams }), { mode: 0o600 })
  const gateway = await startGatewayProcess(place, { env: { GAZEWAY_UPSTREAM_API_KEY: '', ...variablesOf(start) } })
  const here = { 'http://127.0.0.1:8811': gateway.url, '"$GAZEWAY_KEY"': gateway.key }
  return { gateway, variables: () => variablesOf(shown(cloud, 'shell', here)[1] ?? '') }
}

describe('what docs/reference/clients.md has to paste for clouds', () => {
  const closing: (() => Promise<unknown>)[] = []
  after(async () => {
    for (const close of closing.reverse()) await close()
  })

  it('asks Azure by the model, with the key of its resource', async () => {
    const azure = await startAzure({ deployment: 'team-gpt-5' })
    closing.push(azure.close)
    const filled = { 'https://my-resource.openai.azure.com': azure.url, 'the-key-of-the-resource': API_KEY }
    const { gateway } = await startFor('Azure OpenAI', filled)
    const [program = ''] = shown('Azure OpenAI', 'ts', { 'http://127.0.0.1:8811': gateway.url })
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
      env: { ...process.env, GAZEWAY_KEY: gateway.key },
    })
    assert.equal(stdout, 'Hello.\n')
    await gateway.stop()
  })

  it('runs Claude Code over Bedrock, with the keys of AWS', async () => {
    const bedrock = await startBedrock()
    closing.push(bedrock.close)
    const filled = { 'the-id-of-the-key': KEYS.id, 'the-secret-of-the-key': KEYS.secret }
    const { gateway, variables } = await startFor('Amazon Bedrock', filled, bedrock.url)
    const models = ['ANTHROPIC_MODEL', 'ANTHROPIC_SMALL_FAST_MODEL'] as const
    for (const name of models) {
      const model = variables()[name] ?? assert.fail(`${name} is not shown`)
      const answer = await askClaude({ ...variables(), ANTHROPIC_MODEL: model }, newPlace(), 'Say hello.', [])
      assert.deepEqual([answer.is_error, answer.result], [false, 'Hello.'])
    }
    assert.ok(bedrock.state.asked.some(({ url }) => decodeURIComponent(url.pathname).includes(MODEL)))
    await gateway.stop()
  })

  it('runs Gemini CLI over Vertex AI, and Claude Code, with a service account', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const vertex = await startVertex({ publicKey })
    closing.push(vertex.close)
    const file = join(newPlace().home, 'account.json')
    const account = { client_email: EMAIL, private_key: privateKey, token_uri: `${vertex.url}/token` }
    writeFileSync(file, JSON.stringify({ type: 'service_account', ...account }), { mode: 0o600 })
    const filled = { 'my-project': 'team', '/etc/gazeway/account.json': file }
    const { gateway, variables } = await startFor(
      'Vertex AI',
      filled,
      `${vertex.url}/v1/projects/team/locations/us-east5`,
    )
    const model = /gemini -m (\S+)/.exec(sectionOf(page, 'Vertex AI'))?.[1] ?? ''
    const [settings = ''] = shown('Gemini CLI', 'json', {})
    const { response } = await askGemini(variables(), settings, model, 'Say hello.')
    assert.equal(response, 'Hello.')
    const [, claude = ''] = shown('Amazon Bedrock', 'shell', {
      'http://127.0.0.1:8811': gateway.url,
      '"$GAZEWAY_KEY"': gateway.key,
    })
    assert.equal((await askClaude(variablesOf(claude), newPlace(), 'Say hello.', [])).result, 'Hello.')
    await gateway.stop()
  })
})
