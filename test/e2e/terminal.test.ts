import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { until } from '../doubles/until.ts'
import { CLI, newPlace, PATIENCE_MS, type Place } from './server.ts'

/** util-linux's `script` gives a command a terminal. BSD's takes other arguments. */
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
const CONTROL_C = '\u0003'

/** Starts the gateway in a terminal as a person does, stops it with Ctrl-C, and returns all that stood on the screen. */
async function screenOfStart(place: Place): Promise<string> {
  const terminal = spawn(
    'script',
    ['--quiet', '--return', '--flush', '--command', `"${process.execPath}" "${CLI}" --http --port 0`, '/dev/null'],
    { cwd: place.project, env: place.env },
  )
  try {
    let screen = ''
    terminal.stdout.on('data', (chunk) => {
      screen += chunk
    })
    const closed = once(terminal, 'close')
    const isUp = () => screen.includes('gateway on http://') && screen.endsWith('\n')
    await until(isUp, { what: () => screen, seconds: PATIENCE_MS / 1000 })
    terminal.stdin.write(CONTROL_C)
    const [code] = await closed
    // A shell says so of a command that was interrupted.
    assert.equal(code, 130, screen)
    return screen
  } finally {
    terminal.kill('SIGKILL')
  }
}

it('offers to connect a coding agent at the first start in a terminal, and not again', {
  skip: !hasScript && 'no script',
}, async () => {
  const place = newPlace({ withoutStore: true })
  const first = await screenOfStart(place)
  const offer = /To have a coding agent use it: gazeway connect claude-code/
  assert.match(first, /Your admin key/)
  assert.match(first, offer)
  const second = await screenOfStart(place)
  assert.match(second, /gateway on http:/)
  assert.doesNotMatch(second, offer)
})
