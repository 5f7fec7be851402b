import { createInterface } from 'node:readline'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { createMemory, MemoryInput } from '../../src/memory/memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import { newId } from '../../src/text/ids.ts'

/**
 * One gateway's services under load: `instance.ts STORE-URL NAME`. Four streams of memories, each also counted in one that
 * all share, and of call records. Prints `memory KEY`, `call ID` once they are acknowledged and `failed REASON` when
 * they are refused, until its stdin ends.
 */
const STREAMS = 4
const [url = '', name = ''] = process.argv.slice(2)
const store = await openStore(url)
const memory = createMemory({ store, now: () => new Date() })
const calls = createCalls({ store, onError: () => {} })

let stopped = false
createInterface({ input: process.stdin }).on('close', () => {
  stopped = true
})
const say = (line: string) => void process.stdout.write(`${line}\n`)

async function record(): Promise<void> {
  const call_id = newId('call')
  calls.record({
    call_id,
    at: new Date().toISOString(),
    surface: 'http',
    address: null,
    caller_id: name,
    path: '/v1/responses',
    requested_model: null,
    model: 'm',
    upstream: 'double',
    stream: false,
    status: 'ok',
    http_status: 200,
    fallback_from: null,
    price_from: null,
    provider_key: null,
    ...NO_SESSION,
    skipped: [],
    latency_ms: 1,
    first_token_ms: null,
    usage: null,
    upstream_cost_usd: 0,
    error: null,
  })
  await calls.flush()
  say(`call ${call_id}`)
}

async function stream(number: number): Promise<void> {
  for (let i = 0; !stopped; i++) {
    const key = `${name}/${number}/${i}`
    try {
      await memory.store(MemoryInput.parse({ key, value: i, tags: [name] }))
      say(`memory ${key}`)
      await memory.store(MemoryInput.parse({ key: 'shared', value: key }))
      say('shared')
      await record()
    } catch (error) {
      say(`failed ${error instanceof Error ? error.message : error}`)
    }
  }
}

await Promise.all(Array.from({ length: STREAMS }, (_, number) => stream(number)))
// A record whose flush failed is still queued; it is written now.
await calls.flush()
await store.close()
