import type { SessionCache } from '../../../../../src/calls/session-cache.ts'
import { count } from '../../format.ts'
import { queryOf } from '../../router.ts'
import { useLive } from '../../use-live.ts'

/** Calls with a changed beginning from which a client is named: one may be a change of mind. */
const REPEATED = 2

/** Note on a client that changes the beginning of its prompts, so that caches miss them. */
export function BrokenCache({ session, caller_id }: { session: string; caller_id: string }) {
  const { data } = useLive<SessionCache>(`/api/calls/cache${queryOf({ session, caller_id })}`, { everyMs: 10_000 })
  const { calls = 0, changed_tools: tools = 0, changed_instructions: instructions = 0 } = data ?? {}
  if (tools + instructions < REPEATED) return null
  const changed = [tools > 0 && 'the tools or their order', instructions > 0 && 'the instructions']
  return (
    <p class="hint" role="status">
      Your client breaks its cache: {count(tools + instructions)} of {count(calls)} calls changed{' '}
      {changed.filter(Boolean).join(', and ')} at the beginning of the prompt, so that nothing behind was found.
    </p>
  )
}
