import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { CALL_STATUSES } from '../../../../../src/calls/call-status.ts'
import { Badge } from '../../components/content.ts'

/** Status of a call, and whether it was a fallback. */
export function Outcome({ call: { status, fallback_from } }: { call: CallRecord }) {
  return (
    <>
      <Badge tone={CALL_STATUSES[status].tone}>{status}</Badge>
      {fallback_from !== null && (
        <>
          {' '}
          <Badge tone="warn">fallback</Badge>
        </>
      )}
    </>
  )
}

/** Label of a caller without a known key. */
export const nobody = ({ status }: CallRecord) =>
  CALL_STATUSES[status].counts === 'refusal' ? 'unknown key' : 'local tool'

/** Tells whether a call failed or was refused. */
export const isFault = ({ status }: CallRecord) => ['error', 'refusal'].includes(CALL_STATUSES[status].counts ?? '')
