import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { agentBody } from './agent-body.ts'
import { temporaryFolder } from './folder.ts'
import { loadInTurns } from './http-measures.ts'
import { startGazeway, type Target, targetOf } from './http-targets.ts'
import { startUpstream } from './http-upstream.ts'
import { MESSAGES, type MessagesTargets, openMessagesPeers } from './messages-peers.ts'
import type { Report } from './report.ts'

const CONNECTIONS = 4
const SECONDS = 2
const ROUNDS = 3
/** Greatest part of the better peer's time that a call of a large body may take. */
const PASSED = { times: 0.3 }
const CONVERTED = { times: 0.45 }
/** Sizes in KB. Small bodies have no bar here: sections `http` and `messages` have theirs. */
const SIZES = [{ kb: 2 }, { kb: 100, hasBars: true }, { kb: 570, hasBars: true }, { kb: 3072, hasBars: true }]

/** A built checkout of an earlier commit, and the greatest part of its time that passed bodies of a size may take. */
const EARLIER = process.env.GAZEWAY_BENCH_EARLIER
const EARLIER_KB = 570
const OF_EARLIER = { times: 0.65 }

const load = (body: string) => ({ body, connections: CONNECTIONS, seconds: SECONDS })

/** Large bodies, as agents send them: passed on and converted, beside Portkey and claude-code-router. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('bodies')
  const upstream = await startUpstream()
  const { targets, stop } = await openMessagesPeers(folder, upstream)
  for (const size of SIZES) await measureSize(report, size, targets)
  if (EARLIER !== undefined) {
    const speaking = await startGazeway(join(folder, 'a'), upstream, { protocol: 'anthropic' }, {}, { root: EARLIER })
    const chatting = await startGazeway(join(folder, 'b'), upstream, {}, {}, { root: EARLIER })
    const earlier = { passed: targetOf(speaking, {}, MESSAGES), chat: targetOf(chatting) }
    await measureEarlier(report, EARLIER, targets, earlier)
    await Promise.all([speaking.stop(), chatting.stop()])
  }
  await stop()
  await upstream.stop()
}

async function measureSize(
  report: Report,
  { kb, hasBars = false }: (typeof SIZES)[number],
  { chat, Portkey, passed, converted, router }: MessagesTargets,
): Promise<void> {
  type Chats = { chat: number; Portkey: number }
  type Messages = { passed: number; converted: number; router: number }
  const ofChats = await loadInTurns<Chats>({ chat, Portkey }, load(agentBody('chat', kb)), ROUNDS)
  const messages = { passed, converted, router }
  const ofMessages = await loadInTurns<Messages>(messages, load(agentBody('messages', kb)), ROUNDS)
  if (ofChats.cpu === null || ofMessages.cpu === null) return
  const peers = [
    { what: 'Portkey’s chats', figure: ofChats.cpu.Portkey },
    { what: 'claude-code-router', figure: ofMessages.cpu.router },
  ]
  const [better, other] = peers.toSorted((a, b) => a.figure - b.figure)
  const rows = [
    { how: 'a chat passed through', figure: ofChats.cpu.chat, bar: PASSED },
    { how: 'Messages passed through', figure: ofMessages.cpu.passed, bar: PASSED },
    { how: 'Messages converted to a chat', figure: ofMessages.cpu.converted, bar: CONVERTED },
  ]
  for (const { how, figure, bar } of rows)
    report.add({
      what: `processor time of ${how}, ${kb} KB`,
      unit: 'µs',
      figure,
      ...(better && { against: better }),
      // A peer that answered nothing has no figure.
      ...(other && Number.isFinite(other.figure) && { besides: [other] }),
      ...(hasBars && { bar }),
    })
}

async function measureEarlier(
  report: Report,
  root: string,
  { chat, passed }: MessagesTargets,
  earlier: { chat: Target; passed: Target },
): Promise<void> {
  type Pair = { now: number; before: number }
  const commit = execFileSync('git', ['-C', root, 'rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim()
  const pairs = [
    { how: 'a chat', targets: { now: chat, before: earlier.chat }, body: agentBody('chat', EARLIER_KB) },
    { how: 'Messages', targets: { now: passed, before: earlier.passed }, body: agentBody('messages', EARLIER_KB) },
  ]
  for (const { how, targets, body } of pairs) {
    const { cpu } = await loadInTurns<Pair>(targets, load(body), ROUNDS)
    if (cpu === null) return
    report.add({
      what: `processor time of ${how} passed through, ${EARLIER_KB} KB`,
      unit: 'µs',
      figure: cpu.now,
      against: { what: `commit ${commit}`, figure: cpu.before },
      bar: OF_EARLIER,
    })
  }
}
