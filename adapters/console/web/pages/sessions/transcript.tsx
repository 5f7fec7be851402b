import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { Card, When } from '../../components/components.ts'
import { href } from '../../router.ts'
import type { Turn } from './use-turns.ts'
import './sessions.css'

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
