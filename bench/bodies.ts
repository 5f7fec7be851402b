import { join } from 'node:path'
import { agentBody } from './agent-body.ts'
import { temporaryFolder } from './folder.ts'
import { connectTo } from './http-client.ts'
import { loadInTurns } from './http-measures.ts'
import { installPortkey, portkeyHeaders, startPortkey } from './http-portkey.ts'
import { installRouter, startRouter } from './http-router.ts'
import { KEY, startGazeway, type Target, targetOf } from './http-targets.ts'
import { startUpstream } from './http-upstream.ts'
import type { Report } from './report.ts'
import { median } from './stats.ts'

const CONNECTIONS = 4
const SECONDS = 2
const MESSAGES = '/v1/messages'
/** Sizes in KB, and the greatest part of the better peer's time that a call may take. None for a small one. */
const SIZES = [
  { kb: 2, passed: undefined, converted: undefined },
  { kb: 100, passed: 0.3, converted: 0.45 },
  { kb: 570, passed: 0.3, converted: 0.45 },
  { kb: 3072, passed: 0.3, converted: 0.45 },
] as const

/** Streams that run beside the one that is timed, and their size in KB. */
const BESIDE = 200
const STREAM_KB = 800
const TIMED = 15

/** Large bodies, as agents send them: passed on and converted, beside Portkey and claude-code-router. */
export async function section(report: Report): Promise<void> {
  installPortkey()
  installRouter()
  const folder = temporaryFolder('bodies')
  const upstream = await startUpstream()
  const servers = {
    speaking: await startGazeway(join(folder, 'speaking'), upstream, { protocol: 'anthropic' }),
    chatting: await startGazeway(join(folder, 'chatting'), upstream),
    router: await startRouter(join(folder, 'router'), upstream, KEY),
    portkey: await startPortkey(),
  }
  const { speaking, chatting, router, portkey } = servers
  const chats = { chat: targetOf(chatting), Portkey: targetOf(portkey, portkeyHeaders(upstream)) }
  const messages = {
    passed: targetOf(speaking, {}, MESSAGES),
    converted: targetOf(chatting, {}, MESSAGES),
    router: targetOf(router, { 'x-api-key': KEY }, MESSAGES),
  }
  for (const size of SIZES) await measureSize(report, size, chats, messages)
  await measureFirstToken(report, { chat: chats.chat, Portkey: chats.Portkey })
  await Promise.all([...Object.values(servers), upstream].map((server) => server.stop()))
}

async function measureSize(
  report: Report,
  { kb, passed, converted }: (typeof SIZES)[number],
  chats: { chat: Target; Portkey: Target },
  messages: { passed: Target; converted: Target; router: Target },
): Promise<void> {
  const load = (body: string) => ({ body, connections: CONNECTIONS, seconds: SECONDS })
  const chat = await loadInTurns<typeof chats>(chats, load(agentBody('chat', kb)))
  const message = await loadInTurns<typeof messages>(messages, load(agentBody('messages', kb)))
  if (chat.cpu === null || message.cpu === null) return
  const peers = [
    { what: 'Portkey’s chats', figure: chat.cpu.Portkey },
    { what: 'claude-code-router', figure: message.cpu.router },
  ]
  const [better, other] = peers.toSorted((a, b) => a.figure - b.figure)
  const rows = [
    { how: 'a chat passed through', figure: chat.cpu.chat, times: passed },
    { how: 'Messages passed through', figure: message.cpu.passed, times: passed },
    { how: 'Messages converted to a chat', figure: message.cpu.converted, times: converted },
  ]
  for (const { how, figure, times } of rows)
    report.add({
      what: `processor time of ${how}, ${kb} KB`,
      unit: 'µs',
      figure,
      ...(better && { against: better }),
      ...(other && { besides: [other] }),
      ...(times !== undefined && { bar: { times } }),
    })
}

/** The first byte of a large stream, while 200 others of its size are asked for again and again. */
async function measureFirstToken(report: Report, targets: { chat: Target; Portkey: Target }): Promise<void> {
  const body = agentBody('chat', STREAM_KB, { stream: true, max_tokens: 20 })
  const times = { chat: 0, Portkey: 0 }
  for (const name of ['chat', 'Portkey'] as const) times[name] = await firstTokenBeside(targets[name], body)
  report.add({
    what: `first byte of a stream of ${STREAM_KB} KB beside ${BESIDE} others, p50`,
    unit: 'ms',
    figure: times.chat,
    against: { what: 'Portkey', figure: times.Portkey },
    bar: { times: 1 },
  })
}

async function firstTokenBeside(target: Target, body: string): Promise<number> {
  let isOver = false
  const beside = Array.from({ length: BESIDE }, async () => {
    const client = connectTo(target)
    while (!isOver) await client.send(body)
    await client.close()
  })
  const timed = connectTo(target)
  const times: number[] = []
  for (let turn = 0; turn < TIMED; turn++) times.push((await timed.send(body)).firstByteMs)
  isOver = true
  await timed.close()
  await Promise.all(beside)
  return median(times)
}
