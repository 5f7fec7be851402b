import type { CallContext } from '../../calls/call-record.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { isUnfinished } from '../api/finish-reason.ts'
import { costFields } from '../observe/cost-fields.ts'
import type { Observed } from '../observe/observe.ts'
import type { Answered, Failed } from '../passages/passage.ts'
import type { Relay } from '../relay/relay.ts'
import type { Invocation } from '../settle/invocation.ts'
import { beginCall, type SettleDeps, type Settled } from '../settle/settle.ts'

/** An attempt that was answered, and settled. */
interface SettledAttempt {
  relay: Relay
  invocation: Invocation
  context: CallContext
  passed: Answered | Failed
  settled: Settled
}

/**
 * Follows an answer that goes on in the background, where a budget counts it and its cost is not known. Holds nothing of
 * its request but what the cost depends on: it may be large, and the answer take hours.
 */
export function followInBackground(
  deps: SettleDeps,
  { relay, invocation, context, passed, settled }: SettledAttempt,
): void {
  const id = detachedId(invocation, passed, settled)
  if (id === null) return
  const { keepOpen } = invocation.bill
  const settle = settlement(deps, withoutContent(invocation), context)
  deps.late.detached.follow({ relay, id, callerId: context.callerId, settle, keepOpen })
}

/** Id of an answer to follow. Null for others. */
function detachedId(
  { bill, path, asked: { json } }: Invocation,
  { kind, outcome }: Answered | Failed,
  { usage }: Settled,
): string | null {
  if (!bill.isBounded || path !== '/responses' || kind === 'failed') return null
  // Some models are always asked in the background.
  const isDetached = (json.background ?? false) !== false || isUnfinished(fieldsOrNone(outcome.answer).status)
  if (!isDetached || (usage !== null && usage.estimated !== true)) return null
  return outcome.made?.[0] ?? null
}

function withoutContent(invocation: Invocation): Invocation {
  const changes = invocation.changes.list()
  return {
    ...invocation,
    path: '/responses/{id}',
    stream: false,
    queueMs: null,
    isLater: true,
    changes: { list: () => changes },
    asked: { bytes: Buffer.alloc(0), json: {} },
    request: costFields(invocation.path, invocation.request),
  }
}

/** Creates the function that settles the answer. Nothing else is in its scope. */
const settlement = (deps: SettleDeps, later: Invocation, context: CallContext) => (observed: Observed) =>
  // The cache of a prompt is compared with requests that are whole.
  beginCall({ ...deps, watchCache: undefined }, later, context).settle({
    ...{ httpStatus: 200, error: null, terms: null, discarded: [], made: undefined, ...observed },
    ...{ isHad: true, isUntold: false, late: null, generationId: null },
  })
