import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, it } from 'node:test'
import { DELIVERED, deepSeekLike, geminiLike, openRouterLike } from '../doubles/thinking.ts'
import { chunks, json, sse } from '../doubles/upstream.ts'
import { toolCall } from './claude.ts'
import { askCodex, CODEX, configureCodex, documented, runCodex } from './codex.ts'
import { onDouble } from './gateway-process.ts'
import { newPlace } from './server.ts'

/** Instructions of ours for a summary, and what comes before one. */
const [SUMMARISE, PREFACE] = ['Summarise this conversation', 'Summary of the conversation so far']

if (CODEX !== '') {
  onDouble('Codex, with a model that wants its reasoning back', (gateway, upstream) => {
    const place = newPlace()
    const file = join(place.project, 'parcels.txt')
    before(() => writeFileSync(file, 'Parcel 9 is in Riga.'))
    const called = { name: 'exec_command', arguments: JSON.stringify({ cmd: `cat ${file}` }) }

    const models = {
      DeepSeek: deepSeekLike(called),
      OpenRouter: openRouterLike(called),
      'Gemini 3': geminiLike({}, called),
    }
    for (const [name, { path, behaviour }] of Object.entries(models))
      it(`reads a file, and goes on with what it thought before, as ${name} demands`, async () => {
        upstream().on(path, behaviour)
        upstream().on('/responses', json(404, { error: { message: 'no such route' } }))
        configureCodex(gateway(), place)
        assert.equal(await askCodex(gateway(), place, 'Where is parcel 9? Read parcels.txt.'), DELIVERED)
        const results = upstream().received.filter(({ text }) => text.includes('Parcel 9 is in Riga.'))
        assert.ok(results.length > 0, 'the result of the tool arrived')
      })
  })

  onDouble('Codex over chat completions', (gateway, upstream) => {
    it('has its conversation compacted on the server, and goes on from the summary', async () => {
      const place = newPlace()
      configureCodex(gateway(), place, (block) =>
        // It compacts on the server of a provider with this name.
        block
          .replace('name = "Gazeway"', 'name = "OpenAI"')
          .replace('[model', 'model_context_window = 100000\nmodel_auto_compact_token_limit = 50000\n[model'),
      )
      const full = { prompt_tokens: 60_000, completion_tokens: 5, total_tokens: 60_005 }
      upstream().on('/responses', json(404, { error: { message: 'no such route' } }))
      upstream().on('/chat/completions', (response, { text }) => {
        const [last] = chunks([], null)
        const call = toolCall('exec_command', { cmd: 'echo found' })
        const isFirst = !text.includes(PREFACE) && !text.includes('call_1')
        if (text.includes(SUMMARISE)) return sse(chunks(['Parcel 9 is in Riga.']))(response, {} as never)
        if (isFirst) return sse([...call, { ...last, choices: [], usage: full }])(response, {} as never)
        return sse(chunks(['It is in Riga.']))(response, {} as never)
      })

      assert.equal(await askCodex(gateway(), place, 'Where is parcel 9?'), 'It is in Riga.')
      const asked = upstream().received.filter(({ path }) => path.endsWith('/chat/completions'))
      assert.equal(asked.filter(({ text }) => text.includes(SUMMARISE)).length, 1)
      const last = asked.at(-1)?.text ?? ''
      assert.ok(last.includes(PREFACE) && last.includes('Parcel 9 is in Riga.'), 'the summary came back')
      assert.ok(!last.includes('gws1.') && !last.includes('call_1'))
    })
  })

  onDouble('Codex that asks for models', (gateway, upstream) => {
    it('reads those of the gateway, with their context windows', async () => {
      const place = newPlace()
      upstream().on('/models', json(200, { data: [{ id: 'vendor/told', context_length: 123_456 }] }))
      configureCodex(gateway(), place, (block) => {
        const known = block.replace('llm-4.20-0309-reasoning', 'vendor/told').replace('env_key = "GAZEWAY_KEY"\n', '')
        return `${known}\n${documented('printenv')}`
      })
      const { models } = JSON.parse(await runCodex(gateway(), place, ['debug', 'models'])) as {
        models: { slug: string; context_window: number }[]
      }
      assert.equal(models.find(({ slug }) => slug === 'vendor/told')?.context_window, 123_456)
    })
  })
}
