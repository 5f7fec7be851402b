import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { tools } from '../../tools/index.ts'
import { CLI } from '../e2e/server.ts'

describe('the demo', () => {
  const demo = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/demo.ts'], { encoding: 'utf8' })

  it('ends well', () => assert.equal(demo.status, 0, demo.stdout + demo.stderr))

  for (const { name } of tools)
    it(`shows what ${name} was asked and what it answered`, () => {
      assert.match(demo.stdout, new RegExp(`\\d+\\. ${name} +\\d+ ms\\n +asked .+\\n +answered .+\\n`))
    })

  it('ends with the line to paste, and uses no colours', () => {
    assert.ok(demo.stdout.trimEnd().endsWith(`claude mcp add gazeway -- node ${CLI}`))
    assert.ok(!demo.stdout.includes('\u001b'))
  })
})
