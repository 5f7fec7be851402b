import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { PartsBar } from '../../components/bars.tsx'
import { Empty, figureColumn, ListCard, moneyColumn, whenColumn } from '../../components/components.ts'
import { count, duration, percent, short, usd } from '../../format.ts'
import type { Paged } from '../../paging.ts'
import { href } from '../../router.ts'
import type { Turn } from './use-turns.ts'

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
      rowKey={({ call_id }) => call_id}
      addressOf={({ call_id }) => href('calls', { id: call_id })}
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
      empty={<Empty title="No calls are kept" hint="Their records were deleted at the end of their retention." />}
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
