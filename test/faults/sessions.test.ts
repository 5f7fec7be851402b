import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openStore } from '../../src/store/open-store.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'
import type { SessionOutcome } from './session-caller.ts'

const KEY = 'key_agents'
/** Calls of each process, the limit of calls, micro-dollars of a call, and of the session: enough for 15 calls. */
const [CALLS, LIMIT, MICROS, BUDGET] = [30, 20, 100, 1_550]

it('lets exactly as many calls of a session through as its limits hold, in two processes at once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-sessions-'))
  const url = `sqlite:${join(folder, 'store.db')}`
  const store = await openStore(url)
  const limits = { calls: LIMIT, minutes: null, repeat_times: null, repeat_minutes: null }
  await store.db
    .insertInto('session_limits')
    .values({ ...limits, owner: KEY, micros: BUDGET })
    .execute()
  const program = bundledProgram(fileURLToPath(new URL('session-caller.ts', import.meta.url)))
  const callers = [1, 2].map(() => {
    const args = [program, url, KEY, ...[CALLS, LIMIT, MICROS].map(String)]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    return { child, exit: once(child, 'exit'), lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
  })
  t.after(async () => {
    for (const { child } of callers) child.kill('SIGKILL')
    await Promise.all(callers.map(({ exit }) => exit))
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const said = () => Promise.all(callers.map(async ({ lines }) => (await lines.next()).value as string))
  assert.deepEqual(await said(), ['ready', 'ready'])
  for (const { child } of callers) child.stdin.write('go\n')
  const outcomes = (await said()).map((line) => JSON.parse(line) as SessionOutcome)
  const sum = (of: keyof SessionOutcome) => outcomes.reduce((all, outcome) => all + outcome[of], 0)
  assert.deepEqual({ begun: sum('begun'), reserved: sum('reserved') }, { begun: LIMIT, reserved: 15 })
  const [state] = await store.db.selectFrom('session_states').selectAll().execute()
  assert.equal(Number(state?.calls), LIMIT, 'what was refused is not counted')
  for (const { child } of callers) child.stdin.end()
  assert.deepEqual(await Promise.all(callers.map(async ({ exit }) => (await exit)[0])), [0, 0])
})
