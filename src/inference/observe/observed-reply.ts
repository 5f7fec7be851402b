import { USAGE_NAMES } from '../../providers/usage-field.ts'
import { parseJson } from '../../text/json.ts'
import { bodyText } from '../passages/upstream-reply.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { NOTHING, type Observed, observedError } from './observe.ts'

/** Observations of a whole reply that is no answer for the client, but may tell what it cost. */
export function observedIn(reply: WholeReply | StreamReply | undefined): Observed {
  if (reply?.kind !== 'whole' || !USAGE_NAMES.some((name) => reply.body.includes(`"${name}"`))) return NOTHING
  return observedError(parseJson(bodyText(reply)))
}
