import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import { chunks, completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { call, type Instance } from './instance.ts'

/** Time limit for a change to apply in another process. */
const REACHED = { seconds: 5 }

/** Two instances that share their configuration, and what changes it in one of them. */
export interface Pair {
  /** The instance that observes the change. */
  watched: Instance
  change(changes: Record<string, unknown>): Promise<void>
  close(): Promise<void>
}

/** That a change made by one process is in force in another. `open` starts both with `provider` as their upstream. */
export function followingContract(name: string, open: (provider: string) => Promise<Pair>): void {
  describe(name, () => {
    it('sends the next call of another process to the new upstream, and ends a stream under way on the old', async () => {
      const [first, second] = [await startUpstream(), await startUpstream()]
      const pair = await open(first.url)
      const { watched } = pair
      try {
        first.on('/chat/completions', json(200, completion('from the first')))
        second.on('/chat/completions', json(200, completion('from the second')))
        assert.equal(await ask(watched), 'from the first')

        const { stream, finish } = await holdStream(watched, first)
        await pair.change({ 'upstream.provider': second.url, 'upstream.models.chat': 'new-chat-model' })
        await until(() => watched.gateway.loaded.config.upstream.provider === second.url, REACHED)
        assert.equal(await ask(watched), 'from the second')
        assert.equal(modelAsked(second), 'new-chat-model')

        finish()
        const text = await stream.text()
        assert.match(text, /"late"/)
        assert.match(text, /data: \[DONE\]\s*$/)
        assert.equal(second.received.length, 1, 'the stream was not begun again on the new upstream')
      } finally {
        await pair.close()
        await Promise.all([first.close(), second.close()])
      }
    })

    it('changes prices, limits, hosts and rules of another process', async () => {
      const upstream = await startUpstream()
      const pair = await open(upstream.url)
      const { watched } = pair
      try {
        await pair.change({
          'pricing.margin_usd': 0.5,
          'gaze.records_needed': 7,
          'http.max_body_bytes': 2048,
          'http.allowed_hosts': ['gateway.example'],
          'log.level': 'error',
        })
        await until(() => watched.gateway.loaded.config.pricing.margin_usd === 0.5, REACHED)
        assert.equal(watched.gateway.wallet.pricing().margin_usd, 0.5)
        const prices = await call(`${watched.platformUrl}/api/wallet/metered/pricing`, watched.admin, { method: 'GET' })
        assert.equal(prices.body.margin_usd, 0.5)
        const large = await call(`${watched.platformUrl}/api/memory`, watched.admin, {
          body: { key: 'a'.repeat(3000) },
        })
        assert.equal(large.status, 413)
        watched.gateway.log.info('not worth a line any more')
        assert.ok(!watched.logged.some((line) => line.includes('not worth a line')), 'the level of the log is followed')
      } finally {
        await pair.close()
        await upstream.close()
      }
    })
  })
}

async function ask({ gatewayUrl, admin }: Instance): Promise<unknown> {
  const { status, body } = await call(`${gatewayUrl}/v1/chat/completions`, admin, {
    body: { messages: [{ role: 'user', content: 'hello' }] },
  })
  assert.equal(status, 200, JSON.stringify(body))
  return (body as { choices: { message: { content: string } }[] }).choices[0]?.message.content
}

/** A stream whose first words have arrived and whose end waits for `finish`. */
async function holdStream({ gatewayUrl, admin }: Instance, upstream: UpstreamDouble) {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const [opening, ...rest] = chunks(['early', 'late'])
  upstream.on('/chat/completions', async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify(opening)}\n\n`)
    await finished
    for (const chunk of rest) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  const stream = await fetch(`${gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'hello' }] }),
  })
  assert.equal(stream.status, 200)
  return { stream, finish }
}

const modelAsked = ({ received: [first] }: UpstreamDouble): unknown => Object(first?.body).model
