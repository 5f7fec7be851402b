import { join } from 'node:path'
import { connectTo } from './http-client.ts'
import { GENERATOR } from './http-load.ts'
import { loadInTurns, SECONDS, TIMED } from './http-measures.ts'
import type { Running } from './http-process.ts'
import { startGazeway, type Target, targetOf } from './http-targets.ts'
import { FAILING_MODEL } from './http-upstream.ts'
import type { Report } from './report.ts'
import { median } from './stats.ts'

const CONNECTIONS = 64

const bodyOf = (model: string) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello to the world, please.' }] })

/** The cost of routes between several upstreams, and of a first candidate that fails. */
export async function measureRoutes(report: Report, folder: string, upstream: Running): Promise<void> {
  const another = { provider: `http://127.0.0.1:${upstream.port}/v1`, api_keys: ['bench-upstream-key'] }
  const servers = {
    one: await startGazeway(join(folder, 'one'), upstream),
    routed: await startGazeway(
      join(folder, 'routed'),
      upstream,
      {},
      {
        upstreams: { second: another, third: another },
        routes: [
          { model: 'm', to: ['default', 'second', 'third'] },
          { model: 'fails-first', to: [`second/${FAILING_MODEL}`, 'default/m', 'third/m'] },
        ],
      },
    ),
  }
  const one = targetOf(servers.one)
  const routed = targetOf(servers.routed)
  const load = { body: bodyOf('m'), connections: CONNECTIONS, seconds: SECONDS }
  const { perSecond } = await loadInTurns<{ one: Target; routed: Target }>({ one, routed }, load)
  report.add({
    what: `three upstreams and a route, ${CONNECTIONS} connections (${GENERATOR})`,
    unit: 'req/s',
    figure: perSecond.routed,
    against: { what: 'one upstream', figure: perSecond.one },
    bar: { atLeastTimes: 0.95 },
  })
  const [alone = 0, through = 0, fallenBack = 0, direct = 0] = await mediansOf([
    { target: one, body: bodyOf('m') },
    { target: routed, body: bodyOf('m') },
    { target: routed, body: bodyOf('fails-first') },
    { target: targetOf(upstream), body: bodyOf('m') },
  ])
  report.add({
    what: 'three upstreams and a route, one request after the other, p50',
    unit: 'ms',
    figure: through,
    against: { what: 'one upstream', figure: alone },
    bar: { times: 1.05 },
  })
  report.add({
    what: 'added by a first candidate that fails at once, beyond its own time, p50',
    unit: 'ms',
    // An answer takes the upstream as long as a refusal.
    figure: fallenBack - through - direct,
    bar: { atMost: 0.3 },
  })
  await Promise.all(Object.values(servers).map((server) => server.stop()))
}

/** Median times of requests that are sent in turns, one after the other, in milliseconds; the least of the rounds. */
async function mediansOf(asked: readonly { target: Target; body: string }[]): Promise<number[]> {
  const rounds: number[][] = asked.map(() => [])
  for (let round = 0; round < TIMED.rounds; round++) {
    const clients = asked.map(({ target }) => connectTo(target))
    const times: number[][] = asked.map(() => [])
    for (let turn = 0; turn < TIMED.warmups + TIMED.requests; turn++)
      for (const [i, { body }] of asked.entries()) {
        const { wholeMs } = (await clients[i]?.send(body)) ?? { wholeMs: 0 }
        if (turn >= TIMED.warmups) times[i]?.push(wholeMs)
      }
    await Promise.all(clients.map((client) => client.close()))
    for (const [i, of] of times.entries()) rounds[i]?.push(median(of))
  }
  return rounds.map((medians) => Math.min(...medians))
}
