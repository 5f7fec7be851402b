import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { agentBody } from './agent-body.ts'
import { temporaryFolder } from './folder.ts'
import { waitsDuring } from './health-waits.ts'
import { startGazeway, type Target, targetOf } from './http-targets.ts'
import { startUpstream } from './http-upstream.ts'
import { MESSAGES } from './messages-peers.ts'
import type { Report } from './report.ts'

const MB = 32
const BYTES = MB * 1024 * 1024
/** Bytes of the JSON around the large part. */
const AROUND = 1000
const TIMES = 3
/** Longest time that others may wait because of one body, in milliseconds. */
const BAR = { atMost: 20 }
/** Room for one such body and what it is made of. */
const HTTP = { http: { max_buffered_bytes: 4 * 1024 ** 3 } }

const message = { role: 'user', content: 'Say hello to the world, please.' }
const asked = (more: object) => JSON.stringify({ model: 'm', max_tokens: 100, messages: [message], ...more })
const text = 'Some words of everyday use, “quoted” and not.\n'

/** Bodies of 32 MB, each of another make. */
const BODIES: Readonly<Record<string, (api: 'chat' | 'messages') => string>> = {
  'an agent’s session': (api) => agentBody(api, (BYTES - AROUND) / 1024),
  'one string': () => {
    const content = text.repeat(Math.floor((BYTES - AROUND) / Buffer.byteLength(JSON.stringify(text))))
    return asked({ messages: [{ ...message, content }] })
  },
  'a million numbers': () => asked({ metadata: Array.from({ length: 1_000_000 }, (_, at) => 1e15 + at) }),
  'lists 10,000 deep': () => asked({ metadata: 0 }).replace('0}', `${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
}

/** Longest wait of `/health` while one body of 32 MB is passed on or converted. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('stalls')
  const upstream = await startUpstream()
  const server = await startGazeway(join(folder, 'data'), upstream, {}, HTTP)
  const idle = Math.max(...(await waitsDuring(server, () => delay(2_000))))
  const ways = [
    { api: 'chat', how: 'passed through', target: targetOf(server) },
    { api: 'messages', how: 'converted', target: targetOf(server, {}, MESSAGES) },
  ] as const
  for (const [what, bodyOf] of Object.entries(BODIES))
    for (const { api, how, target } of ways) {
      const body = Buffer.from(bodyOf(api))
      const waits = await waitsDuring(server, async () => {
        for (let turn = 0; turn < TIMES; turn++) await send(target, body)
      })
      report.add({
        what: `longest wait of /health beside a body of ${MB} MB: ${what}, ${how}`,
        unit: 'ms',
        figure: Math.max(...waits),
        besides: [{ what: 'beside nothing', figure: idle }],
        bar: BAR,
      })
    }
  await server.stop()
  await upstream.stop()
}

/** Sends a body and drops the reply, which may be a refusal. */
function send({ url, headers }: Target, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { ...headers, 'content-length': body.length } }, (reply) =>
      reply.resume().once('end', resolve),
    )
    sent.once('error', reject)
    sent.end(body)
  })
}
