import { temporaryFolder } from './folder.ts'
import { GENERATOR } from './http-load.ts'
import { addedTime, loadInTurns, SECONDS, TIMED_STREAMS } from './http-measures.ts'
import { type Target, targetOf } from './http-targets.ts'
import { startUpstream } from './http-upstream.ts'
import { MESSAGES, type MessagesTargets, openMessagesPeers } from './messages-peers.ts'
import type { Report } from './report.ts'
import { measureRoutes } from './routes.ts'

const CONNECTIONS = 64

/** Request body that both APIs accept: it asks for a Message or for a chat completion. */
const bodyOf = (more: object) =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Say hello to the world, please.' }], ...more })

/** Anthropic's Messages through the gateway: passed on, and converted beside claude-code-router and Portkey's chats. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('messages')
  const upstream = await startUpstream()
  const { targets, stop } = await openMessagesPeers(folder, upstream)
  await measureWhole(report, targets)
  await measureStreams(report, targets, {
    passed: targetOf(upstream, {}, MESSAGES),
    converted: targetOf(upstream),
  })
  await stop()
  await measureRoutes(report, folder, upstream)
  await upstream.stop()
}

async function measureWhole(report: Report, targets: MessagesTargets): Promise<void> {
  const load = { body: bodyOf({ max_tokens: 100 }), connections: CONNECTIONS, seconds: SECONDS }
  const { perSecond } = await loadInTurns<MessagesTargets>(targets, load)
  const { passed, converted, chat, router, Portkey } = perSecond
  const unit = 'req/s'
  const what = (how: string) => `Messages ${how}, ${CONNECTIONS} connections (${GENERATOR})`
  report.add({
    what: what('passed through'),
    unit,
    figure: passed,
    against: { what: 'chat completions', figure: chat },
    bar: { atLeastTimes: 0.9 },
  })
  report.add({
    what: what('converted'),
    unit,
    figure: converted,
    against: { what: 'claude-code-router', figure: router },
    bar: { atLeastTimes: 5 },
  })
  report.add({
    what: what('converted'),
    unit,
    figure: converted,
    against: { what: 'Portkey’s chats', figure: Portkey },
    bar: { atLeastTimes: 6 },
  })
}

async function measureStreams(
  report: Report,
  { passed, converted, router }: MessagesTargets,
  direct: { passed: Target; converted: Target },
): Promise<void> {
  const timed = { ...TIMED_STREAMS, body: bodyOf({ max_tokens: 2, stream: true }), moment: 'firstByteMs' } as const
  const ofPassed = await addedTime<{ passed: number }>({ passed }, direct.passed, timed)
  const ofConverted = await addedTime<{ converted: number; router: number }>(
    { converted, router },
    direct.converted,
    timed,
  )
  const what = (how: string) => `added to the first byte of a stream of Messages ${how}, p50`
  report.add({ what: what('passed through'), unit: 'ms', figure: ofPassed.passed, bar: { atMost: 1 } })
  report.add({
    what: what('converted'),
    unit: 'ms',
    figure: ofConverted.converted,
    against: { what: 'claude-code-router', figure: ofConverted.router },
    bar: { atMost: 1 },
  })
}
