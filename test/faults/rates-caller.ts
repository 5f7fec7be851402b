import { createInterface } from 'node:readline'
import { GazewayError } from '../../src/errors.ts'
import { createCallRates } from '../../src/inference/rates/call-rates.ts'
import type { CountedCall } from '../../src/inference/rates/rate-share.ts'
import type { CallTokens, RateLimits } from '../../src/inference/rates/shared-window.ts'
import { openStore } from '../../src/store/open-store.ts'

/**
 * One gateway's rate limiter: `rates-caller.ts STORE-URL WINDOW-MS LEASE-MS`. Takes commands as lines of JSON, answers each
 * with a line, and ends with its stdin.
 */
export type RatesCommand = { id: number; limits: RateLimits & { id: string }; tokens?: CallTokens } & (
  | { do: 'begin' }
  | { do: 'burst'; calls: number }
  /** Calls by several workers, one after the other, until no more fit in this window. */
  | { do: 'drain'; workers: number; used: number }
  | { do: 'end' }
)

/** Outcome of a command. Times are of a clock that all processes of the machine share, in milliseconds. */
export interface RatesReply {
  id: number
  began: number[]
  /** Seconds to wait, of each refused call. */
  refused: number[]
  /** Message of the last refusal, and its headers. */
  message: string
  headers: Record<string, string>
}

const [url = '', windowMs = '', leaseMs = ''] = process.argv.slice(2)
const store = await openStore(url)
const rates = createCallRates({
  store,
  onError: (error) => process.stderr.write(`${error}\n`),
  windowMs: Number(windowMs),
  leaseMs: Number(leaseMs),
})
const begun: CountedCall[] = []
const NO_TOKENS = { prompt: 0, answer: 0 }

async function begin({ limits, tokens = NO_TOKENS }: RatesCommand, reply: RatesReply): Promise<CountedCall | null> {
  try {
    const call = await rates.begin(limits, () => tokens)
    reply.began.push(Number(process.hrtime.bigint() / 1_000_000n))
    reply.headers = call.headers
    return call
  } catch (error) {
    if (!(error instanceof GazewayError)) throw error
    reply.refused.push(error.retryAfterSeconds ?? 0)
    reply.message = error.message
    reply.headers = error.headers
    return null
  }
}

async function drain(command: RatesCommand, used: number, reply: RatesReply): Promise<void> {
  for (;;) {
    const call = await begin(command, reply)
    // Some turns later, as an answer takes its time.
    if (call !== null) setTimeout(() => call.end(used), 5)
    else if ((reply.refused.at(-1) ?? 0) > 1) return
  }
}

async function run(command: RatesCommand, reply: RatesReply): Promise<void> {
  if (command.do === 'end') return begun.shift()?.end(0)
  if (command.do === 'begin') {
    const call = await begin(command, reply)
    if (call !== null) begun.push(call)
  } else if (command.do === 'burst') {
    const calls = await Promise.all(Array.from({ length: command.calls }, () => begin(command, reply)))
    for (const call of calls) call?.end(0)
  } else await Promise.all(Array.from({ length: command.workers }, () => drain(command, command.used, reply)))
}

const lines = createInterface({ input: process.stdin })
lines.on('line', async (line) => {
  const command = JSON.parse(line) as RatesCommand
  const reply: RatesReply = { id: command.id, began: [], refused: [], message: '', headers: {} }
  await run(command, reply)
  process.stdout.write(`${JSON.stringify(reply)}\n`)
})
lines.on('close', async () => {
  await rates.close()
  await store.close()
})
