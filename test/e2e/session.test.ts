import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createKeys } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import { runHere } from './in-process.ts'
import { newPlace } from './server.ts'

/** The commands of docs/reference/coding-sessions.md, on a session of a store. */
describe('gazeway session', () => {
  it('lists, shows, stops, resumes and raises the sessions of a store', async () => {
    const place = newPlace()
    const session = (...args: string[]) => runHere(place, ['session', ...args])
    const flags = ['--session', '2', '--session-calls', '10', '--repeats', '5/10']
    const made = await runHere(place, ['key', 'create', '--name', 'agent', ...flags])
    const id = `key_${made.stdout.slice(4, 36)}`
    const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
    const keys = createKeys({ store, now: () => new Date(), fixedKey: null, onError: (error) => assert.ifError(error) })
    const at = '2026-11-21T07:05:00.000Z'
    await store.db
      .insertInto('coding_sessions')
      .values({
        ...{
          caller_id: id,
          session_id: 'a',
          client: 'claude-code',
          client_version: '2.1',
          started_at: at,
          last_at: at,
        },
        ...{ calls: 3, errors: 0, refused: 0, retries: 0, turns: 1, first_turn: null, last_turn: null },
        ...{
          prompt_tokens: 1,
          completion_tokens: 1,
          total_tokens: 2,
          upstream_cost_micros: 1_370_000,
          cached_tokens: 0,
        },
        ...{ cache_write_tokens: 0, cache_saved_micros: 0, cache_missed_tokens: 0, cache_missed_micros: 0 },
      })
      .execute()

    const stopped = await session('stop', 'a')
    assert.match(stopped.stderr, /^Stopped the session a of key_.*within 5 seconds/)
    const listed = await session('list', '--sort', 'cost')
    assert.match(listed.stdout, /^ID .*STATE\na +2026-11-21T07:05Z +3 +1\.37 +stopped\n.*client: claude-code 2\.1/)
    const resumed = await session('resume', 'a', '--key', 'agent', '--raise', '1.5', '--calls', '5')
    assert.match(resumed.stderr, /goes on, raised by 1\.5 USD and 5 calls in all/)
    const shown = JSON.parse((await session('show', 'a')).stdout)
    const limits = { session_usd: 3.5, session_calls: 15, session_minutes: null, repeats: { times: 5, minutes: 10 } }
    assert.deepEqual([shown.key, shown.state, shown.stopped_at, shown.limits], [id, 'active', null, limits])
    for (const [args, told] of [
      [['stop', 'nobody'], /No call of such a session has ended yet/],
      [['show', 'nobody'], /There is no such session/],
      [['resume', 'a', '--raise', '0'], /--raise: invalid value/],
      [['list', '--limit', '0'], /--limit: invalid value/],
    ] as const) {
      const { code, stderr } = await session(...args)
      assert.notEqual(code, 0)
      assert.match(stderr, told)
    }
    await keys.close()
    await store.close()
  })
})
