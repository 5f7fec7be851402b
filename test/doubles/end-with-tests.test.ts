import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundledProgram } from './bundled-program.ts'

it('a test file whose start fails ends by itself, though it closes no double', { timeout: 60_000 }, async (t) => {
  // With it, a runner would be told by other means than the output.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const program = bundledProgram(fileURLToPath(new URL('failing-start.ts', import.meta.url)))
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  assert.equal(code, 1, said)
  assert.match(said, /The port is taken\./)
})
