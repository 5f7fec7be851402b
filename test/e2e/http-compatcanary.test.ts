import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { onEachUpstream } from './gateway-process.ts'

interface Report {
  results: Array<{ id: string; status: string; summary: string }>
}

onEachUpstream('compatcanary', (gateway) => {
  for (const model of ['llm-3-fast', 'llm-4.20-multi-agent-beta-0309'])
    it(`finds all of the modern profile as it should be, with ${model}`, async () => {
      const { url, key } = gateway()
      const flags = ['--profile', 'modern', '--format', 'json', '--fail-on', 'never']
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['node_modules/.bin/compatcanary', 'scan', '--base-url', `${url}/v1`, '--model', model, ...flags],
        { env: { ...process.env, OPENAI_API_KEY: key } },
      )
      const { results } = JSON.parse(stdout) as Report
      assert.equal(results.length, 7)
      assert.deepEqual(
        results.filter(({ status }) => status !== 'pass'),
        [],
      )
    })
})
