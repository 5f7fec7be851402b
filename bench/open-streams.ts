import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { agentBody } from './agent-body.ts'
import { temporaryFolder } from './folder.ts'
import { connectTo } from './http-client.ts'
import { installPortkey, portkeyHeaders, startPortkey } from './http-portkey.ts'
import { startGazeway, type Target, targetOf } from './http-targets.ts'
import { startUpstream } from './http-upstream.ts'
import type { Report } from './report.ts'
import { median } from './stats.ts'

/** Commands of further Nodes that run the servers, separated by colons. */
const NODES = [process.execPath, ...(process.env.GAZEWAY_BENCH_NODES?.split(':') ?? [])]
const STREAMS = 200
const KB = 800
/** A turn of an agent lasts twenty seconds: as many chunks, and the pause before each. */
const TURN = { max_tokens: 20, metadata: { pause_ms: 1000 } }
const TURN_MS = TURN.max_tokens * TURN.metadata.pause_ms
const TIMED = 20
const BETWEEN_MS = 300
/** Two hundred bodies of one caller do not fit in the default. */
const HTTP = { http: { max_buffered_bytes: 1024 ** 3 } }

/** First byte of a stream with a large request, while 200 agents each stream an answer to one, turn after turn. */
export async function section(report: Report): Promise<void> {
  installPortkey()
  const folder = temporaryFolder('streams')
  const upstream = await startUpstream()
  for (const [index, node] of NODES.entries()) {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    const gazeway = await startGazeway(join(folder, String(index)), upstream, {}, HTTP, { node })
    const own = await firstByte(targetOf(gazeway))
    await gazeway.stop()
    const portkey = await startPortkey(node)
    const peer = await firstByte(targetOf(portkey, portkeyHeaders(upstream)))
    await portkey.stop()
    report.add({
      what: `first byte of a stream, request of ${KB} KB, beside ${STREAMS} such streams, Node ${version}, p50`,
      unit: 'ms',
      figure: own.beside,
      against: { what: 'Portkey', figure: peer.beside },
      besides: [
        { what: 'beside none', figure: own.alone },
        { what: 'Portkey beside none', figure: peer.alone },
      ],
      bar: { times: 1 },
    })
  }
  await upstream.stop()
}

async function firstByte(target: Target): Promise<{ alone: number; beside: number }> {
  const body = agentBody('chat', KB, { stream: true, max_tokens: 2 })
  await timesOf(target, body)
  const alone = median(await timesOf(target, body))
  const agents = Array.from({ length: STREAMS }, (_, index) => agent(target, (index / STREAMS) * TURN_MS))
  await delay(TURN_MS)
  const beside = median(await timesOf(target, body))
  await Promise.all(agents.map((one) => one.stop()))
  return { alone, beside }
}

async function timesOf(target: Target, body: string): Promise<number[]> {
  const client = connectTo(target)
  const times: number[] = []
  for (let turn = 0; turn < TIMED; turn++) {
    times.push((await client.send(body)).firstByteMs)
    await delay(BETWEEN_MS)
  }
  await client.close()
  return times
}

/** Asks again once it has its answer, or has lost its connection. @param afterMs when it begins */
function agent(target: Target, afterMs: number): { stop(): Promise<void> } {
  const body = agentBody('chat', KB, { stream: true, ...TURN })
  const client = connectTo(target)
  let isOver = false
  const working = (async () => {
    await delay(afterMs)
    while (!isOver) await client.send(body).catch(() => delay(BETWEEN_MS))
  })()
  return {
    async stop() {
      isOver = true
      await client.drop()
      await working
    },
  }
}
