import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { asArgument } from '../../scripts/demo/print.ts'
import { tools } from '../../tools/index.ts'
import { scriptArgs } from '../doubles/script.ts'
import { CLI } from '../e2e/server.ts'
import { cutShort } from './cut-short.ts'

const DEMO = scriptArgs('scripts/demo.ts')

describe('the demo', () => {
  const demo = spawnSync(process.execPath, DEMO, { encoding: 'utf8' })

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

describe('the line to paste', () => {
  it('names a path in one word, whatever is in it', () => {
    assert.equal(asArgument('/home/me/gazeway/dist/cli.js'), '/home/me/gazeway/dist/cli.js')
    for (const path of ['/home/me/my code/dist/cli.js', '/home/me/a$b"c`d/(e)'])
      assert.equal(spawnSync('sh', ['-c', `printf %s ${asArgument(path)}`], { encoding: 'utf8' }).stdout, path)
  })
})

cutShort([[], ['--platform']])

describe('the flags of the demo', () => {
  const run = (...flags: string[]) => spawnSync(process.execPath, [...DEMO, ...flags], { encoding: 'utf8' })

  it('are printed by --help', () => {
    const { status, stdout } = run('--help')
    assert.equal(status, 0)
    for (const flag of ['--http', '--platform', '--escrow', '--help'])
      assert.match(stdout, new RegExp(`^  ${flag} `, 'm'))
  })

  for (const flags of [['--htpp'], ['--http', '--platform'], ['platform']])
    it(`are accepted one at a time, and ${flags.join(' ')} is refused`, () => {
      const { status, stdout, stderr } = run(...flags)
      assert.deepEqual([status, stdout], [2, ''])
      const accepted = 'must be one of --http, --platform, --escrow, --help, or none.'
      assert.equal(stderr, `demo: unknown option ${flags.join(' ')}; ${accepted}\n`)
    })
})
