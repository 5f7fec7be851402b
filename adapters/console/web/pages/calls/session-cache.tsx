import type { SessionCache } from '../../../../../src/calls/session-cache.ts'
import { CacheStat } from '../../components/cache-stat.tsx'
import { ErrorNote, Grid, Stat } from '../../components/components.ts'
import { count, short } from '../../format.ts'
import { queryOf } from '../../router.ts'
import { useLive } from '../../use-live.ts'

/** Calls with a changed beginning from which a client is named: one may be a change of mind. */
const REPEATED = 2

/** Prompt caches of a session, and its client's part in what they missed. */
export function OneSession({ session, caller_id }: { session: string; caller_id: string }) {
  const live = useLive<SessionCache>(`/api/calls/cache${queryOf({ session, caller_id })}`, { everyMs: 10_000 })
  const { data } = live
  if (data === null) return <ErrorNote error={live.error} onRetry={live.reload} />
  const { changed_tools: tools, changed_instructions: instructions } = data
  return (
    <>
      <Grid of="figures">
        <CacheStat of={data} label="Prompt caches" />
        <Stat label="Input tokens" value={short(data.prompt_tokens)} hint={`in ${count(data.calls)} calls`} />
        <Stat
          label="Cached tokens"
          value={short(data.cached_tokens)}
          hint={`${short(data.cache_write_tokens)} written`}
        />
        <Stat label="Missed tokens" value={short(data.missed_tokens)} hint="cached before, and paid for again" />
      </Grid>
      {tools + instructions >= REPEATED && (
        <p class="hint" role="status">
          Your client breaks its cache: {count(tools + instructions)} of {count(data.calls)} calls changed{' '}
          {[tools > 0 && 'the tools or their order', instructions > 0 && 'the instructions']
            .filter(Boolean)
            .join(', and ')}{' '}
          at the beginning of the prompt, so that nothing behind was found.
        </p>
      )}
    </>
  )
}
