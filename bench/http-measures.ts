import { connectTo } from './http-client.ts'
import { type Load, type LoadResult, sendLoad } from './http-load.ts'
import { cpuTime } from './http-process.ts'
import type { Target } from './http-targets.ts'
import { median } from './stats.ts'

const ROUNDS = 5
/** Long enough that it does not tell how soon each of them is warm again: they rest while the others have their turn. */
export const SECONDS = 4
const WARMUP_SECONDS = 2
/** Several rounds, because the machine is not as fast in one second as in the next. */
export const TIMED = { rounds: 5, warmups: 100, requests: 300 }
/** One, because the others would grow cold while Portkey, which sleeps before each stream, has its turn. */
export const TIMED_STREAMS = { rounds: 1, warmups: 300, requests: 300 }

/** The targets of a comparison, by name. Targets that are not installed are absent. */
type Compared<Figures> = { [Name in keyof Figures]: Target }

/** Sends the load to each target in turn, in several rounds. @returns medians; `cpu` in µs a request, null without /proc */
export async function loadInTurns<Figures extends object>(compared: Compared<Figures>, load: Load, rounds = ROUNDS) {
  const targets = Object.entries<Target>(compared)
  for (const [, target] of targets) await sendLoad(target, { ...load, seconds: WARMUP_SECONDS })
  const results = targets.map(([name]) => ({ name, loads: [] as (LoadResult & { cpu: number | null })[] }))
  for (let round = 0; round < rounds; round++)
    for (const [i, [, target]] of targets.entries()) results[i]?.loads.push(await measuredLoad(target, load))

  const medians = (of: (result: LoadResult & { cpu: number | null }) => number) =>
    Object.fromEntries(results.map(({ name, loads }) => [name, median(loads.map(of))])) as {
      [Name in keyof Figures]: number
    }
  const hasCpu = results.every(({ loads }) => loads.every(({ cpu }) => cpu !== null))
  return {
    perSecond: medians(({ perSecond }) => perSecond),
    p99Ms: medians(({ p99Ms }) => p99Ms),
    cpu: hasCpu ? medians(({ cpu }) => cpu ?? 0) : null,
  }
}

async function measuredLoad(target: Target, load: Load): Promise<LoadResult & { cpu: number | null }> {
  const before = cpuTime(target.pid)
  const result = await sendLoad(target, load)
  const after = cpuTime(target.pid)
  return { ...result, cpu: before === null || after === null ? null : (after - before) / result.requests }
}

/** A series of requests, one after the other, and the moment of the reply that is timed. */
type Timed = typeof TIMED & { body: string; moment: 'firstByteMs' | 'wholeMs' }

/** Measures the latency that each target adds to the upstream's, in milliseconds. @returns medians of the rounds */
export async function addedTime<Figures extends object>(
  compared: Compared<Figures>,
  direct: Target,
  timed: Timed,
): Promise<{ [Name in keyof Figures]: number }> {
  const added = Object.entries<Target>(compared).map(([name, target]) => ({ name, target, times: [] as number[] }))
  for (let round = 0; round < timed.rounds; round++)
    for (const { target, times } of added) times.push(await addedBy(target, direct, timed))
  return Object.fromEntries(added.map(({ name, times }) => [name, median(times)])) as {
    [Name in keyof Figures]: number
  }
}

/** Measures one round: one request after the other, in turns with the upstream. */
async function addedBy(target: Target, direct: Target, { warmups, requests, body, moment }: Timed): Promise<number> {
  const pair = [direct, target].map((to) => ({ client: connectTo(to), times: [] as number[] }))
  for (let turn = 0; turn < warmups + requests; turn++)
    for (const { client, times } of turn % 2 === 0 ? pair : pair.toReversed()) {
      const time = (await client.send(body))[moment]
      if (turn >= warmups) times.push(time)
    }
  await Promise.all(pair.map(({ client }) => client.close()))
  const [alone = 0, through = 0] = pair.map(({ times }) => median(times))
  return through - alone
}
