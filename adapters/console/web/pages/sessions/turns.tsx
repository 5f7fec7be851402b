import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { SessionMessage } from '../../../../../src/sessions/session.ts'
import { PartsBar } from '../../components/bars.tsx'
import { Card, When } from '../../components/content.ts'
import { figureColumn, ListCard, moneyColumn, whenColumn } from '../../components/lists.ts'
import { count, duration, percent, short, usd } from '../../format.ts'
import type { List, Paged } from '../../paging.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'
import { type Said, saidIn, saidInChat } from './said.ts'
import './sessions.css'

/** Calls of a session as a timeline, the newest first: tokens by kind, time, cost, tools, and what went wrong. */
export function Turns({ page, turns }: { page: Paged<CallRecord>; turns: ReadonlyMap<string, Turn> }) {
  const most = (of: 'prompt_tokens' | 'completion_tokens') =>
    Math.max(...page.items.map(({ usage }) => usage?.[of] ?? 0), 0)
  const [prompt, output] = [most('prompt_tokens'), most('completion_tokens')]
  return (
    <ListCard<CallRecord>
      title="Calls"
      label="Calls of the session, newest first"
      list={page}
      loading="the calls"
      opens="calls"
      columns={[
        whenColumn('at', 'When'),
        { key: 'model', label: 'Model', render: ({ model, requested_model }) => model ?? requested_model ?? '—' },
        { key: 'prompt', label: 'Prompt', render: (call) => <Prompt of={call} most={prompt} /> },
        figureColumn('Tokens', ({ usage }) => (usage ? short(usage.prompt_tokens) : '—')),
        figureColumn('Cached', ({ usage }) =>
          usage?.cached_tokens ? percent(usage.cached_tokens / usage.prompt_tokens) : '—',
        ),
        {
          key: 'output',
          label: 'Answer',
          render: ({ usage }) =>
            usage && (
              <PartsBar
                of={output}
                parts={[{ name: 'output', value: usage.completion_tokens }]}
                label={`${count(usage.completion_tokens)} tokens of answer`}
              />
            ),
        },
        figureColumn('Out', ({ usage }) => (usage ? short(usage.completion_tokens) : '—')),
        figureColumn('Took', ({ latency_ms }) => duration(latency_ms)),
        moneyColumn('upstream_cost_usd', 'Cost'),
        { key: 'tools', label: 'Tools', align: 'words', render: ({ call_id }) => turns.get(call_id)?.tools.join(', ') },
        { key: 'tensor', label: 'Tensor', align: 'words', render: ({ call_id }) => turns.get(call_id)?.tensor },
        { key: 'score', label: 'Score', align: 'words', render: ({ call_id }) => turns.get(call_id)?.score },
        { key: 'note', label: 'Note', align: 'words', render: noteOf },
      ]}
      empty={{ title: 'No calls are kept', hint: 'Their records were deleted at the end of their retention.' }}
    />
  )
}

function Prompt({ of: { usage }, most }: { of: CallRecord; most: number }) {
  if (usage === null) return null
  const { prompt_tokens, cached_tokens: cached = 0, cache_write_tokens: written = 0 } = usage
  const input = Math.max(0, prompt_tokens - cached - written)
  return (
    <PartsBar
      of={most}
      parts={[
        { name: 'cached', value: cached },
        { name: 'written', value: written },
        { name: 'input', value: input },
      ]}
      label={`${count(cached)} tokens read from the cache, ${count(written)} written, ${count(input)} others`}
    />
  )
}

/** Fault of a call: its error, or what its cache missed. */
function noteOf({ error, cache, fallback_from }: CallRecord) {
  if (error !== null) return <span class="bad">{error}</span>
  if (cache && cache.missed_tokens > 0) {
    const because = cache.changed === null ? '' : `: the client changed its ${cache.changed}`
    return `cache missed ${short(cache.missed_tokens)} tokens for ${usd(cache.missed_usd)}${because}`
  }
  return fallback_from === null ? '' : 'sent again'
}

/** Words of a call of a session, and of a chat its tensor and score. */
interface Turn extends Said {
  tensor?: string | undefined
  score?: string | undefined
}

/** Most messages of a chat that are read, the newest. */
const MOST_MESSAGES = 200

/**
 * Turns of a session by the id of their call: of chats with the agent from their messages, of other sessions from the content
 * of their calls where it is stored.
 *
 * @param calls newest first
 */
export function useTurns(id: string, calls: readonly CallRecord[]): ReadonlyMap<string, Turn> {
  const isChat = calls.some(({ surface }) => surface === 'socket' || surface === 'platform')
  const path = `/api/sessions/${encodeURIComponent(id)}/messages?limit=${MOST_MESSAGES}`
  const { data } = useLive<List<SessionMessage>>(isChat && !session.value?.isInference ? path : null)
  const messages = data?.items ?? []
  return new Map(
    calls.flatMap((call, at) => {
      const following = calls
        .slice(0, at)
        .findLast(({ thread_id, kind }) => thread_id === call.thread_id && kind === call.kind)
      const said = saidInChat(messages, call.call_id) ?? saidIn(call, following)
      const { tensor, poa_score } = messages.find(({ call_id }) => call_id === call.call_id) ?? {}
      return said === null ? [] : [[call.call_id, { ...said, tensor, score: poa_score?.toFixed(2) }] as const]
    }),
  )
}

/** Words of the turns on this page, the oldest first. Nothing where none are stored. @param calls newest first */
export function Transcript({ calls, turns }: { calls: readonly CallRecord[]; turns: ReadonlyMap<string, Turn> }) {
  if (turns.size === 0) return null
  return (
    <Card title="Transcript">
      <ol class="transcript" aria-label="Transcript, the oldest first">
        {calls.toReversed().flatMap(({ call_id, at }) => {
          const turn = turns.get(call_id)
          if (turn === undefined) return []
          return [
            <li key={call_id}>
              <a href={href('calls', { id: call_id })}>
                <When at={at} />
              </a>
              {turn.asked && <p class="asked">{turn.asked}</p>}
              {turn.answered && <p>{turn.answered}</p>}
              {turn.tools.length > 0 && <p class="muted">calls {turn.tools.join(', ')}</p>}
            </li>,
          ]
        })}
      </ol>
    </Card>
  )
}
