import type { SkippedCandidate } from '../../../../../src/calls/call-record.ts'
import type { ExplainedCall } from '../../../../platform/routes/calls-routes.ts'
import { Card } from '../../components/content.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { TestCandidate } from '../upstreams/test-button.tsx'
import { MendLink } from './mend-link.tsx'
import { isFault, Outcome } from './outcome.tsx'
import './calls.css'

/** Reasons to skip an upstream, in words. */
const SKIPPED: Readonly<Record<SkippedCandidate['reason'], string>> = {
  circuit_open: 'circuit breaker open',
  keys_resting: 'its keys are paused',
}

/** Candidates in the order in which they were tried or passed over. */
export function Candidates({ of: { call, attempts, route } }: { of: ExplainedCall }) {
  const now = route?.candidates ?? []
  // Calls name `default` by its provider.
  const candidateOf = (name: string) =>
    [name, 'default'].flatMap((one) => now.find(({ upstream }) => upstream === one) ?? [])[0]
  return (
    <Card title="Candidates">
      <ol class="candidates">
        {attempts.flatMap((attempt) => [
          ...attempt.skipped.map(({ upstream, reason }) => (
            <li key={`${attempt.call_id} ${upstream}`}>
              <span class="badge neutral">skipped</span>
              <span>
                {upstream}: {SKIPPED[reason]}
              </span>
              {session.value?.isAdmin && <TryNow candidate={candidateOf(upstream)} reason={reason} />}
            </li>
          )),
          <li key={attempt.call_id} aria-current={attempt.call_id === call.call_id ? 'true' : undefined}>
            <Outcome call={attempt} />
            <span>
              <a href={href('calls', { id: attempt.call_id })}>
                {attempt.upstream} / {attempt.model ?? '—'}
              </a>
              {attempt.http_status !== null && ` ${attempt.http_status}`}
              {attempt.error !== null && <div class="muted">{attempt.error}</div>}
            </span>
            {isFault(attempt) && <MendLink call={attempt} />}
          </li>,
        ])}
      </ol>
    </Card>
  )
}

const MENDS: Readonly<Record<SkippedCandidate['reason'], string>> = {
  circuit_open: 'Try it and close its circuit',
  keys_resting: 'Try it now',
}

/** Button that asks a skipped candidate now, whose answer closes its circuit breaker. */
function TryNow({
  candidate,
  reason,
}: {
  candidate: { upstream: string; model: string } | undefined
  reason: SkippedCandidate['reason']
}) {
  if (candidate === undefined) return <a href={href('upstreams')}>See the upstreams</a>
  return <TestCandidate upstream={candidate.upstream} model={candidate.model} words={MENDS[reason]} />
}
